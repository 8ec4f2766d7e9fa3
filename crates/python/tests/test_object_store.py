"""Parts and images in an object store, for which moto's server stands in."""

import errno
import os
import subprocess
import sys

import pytest

import hedgerow
from hedgerow import image as images
from hedgerow import listing

pytest.importorskip("s3fs")
pytest.importorskip("moto")
server = pytest.importorskip("moto.server")

SECRET = "not-to-be-told"


@pytest.fixture(scope="module")
def bucket():
    found = pytest.MonkeyPatch()
    store = server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    store.start()
    host, port = store.get_host_and_port()
    for name, value in {
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
        "NO_PROXY": "127.0.0.1",
    }.items():
        found.setenv(name, value)
    import s3fs

    s3fs.S3FileSystem.clear_instance_cache()
    s3fs.S3FileSystem().mkdir("parts")
    yield "s3://parts"
    store.stop()
    found.undo()


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    top = tmp_path_factory.mktemp("store") / "tree"
    for number in range(12):
        directory = top / f"d{number}"
        directory.mkdir(parents=True)
        for name in range(10):
            (directory / f"f{name}").write_bytes(os.urandom(500 * name) + b"x" * 40_000)
    return top


def test_a_listing_in_parts(tree, bucket, tmp_path):
    listing.write_parquet(tree, tmp_path / "whole")
    first = listing.walk_part(tree, 0, f"{bucket}/first")
    listing.walk_part(tree, "60s", f"{bucket}/second", rest=listing.read_rest(f"{bucket}/first"))
    assert first.rest
    listing.merge([f"{bucket}/first", f"{bucket}/second"], f"{bucket}/merged")
    import fsspec

    with fsspec.open(f"{bucket}/merged") as file:
        assert file.read() == (tmp_path / "whole").read_bytes()
    with pytest.raises(FileExistsError):
        listing.walk_part(tree, 0, f"{bucket}/first")
    with pytest.raises(FileNotFoundError) as caught:
        listing.merge([f"{bucket}/none"], tmp_path / "none")
    assert caught.value.filename == f"{bucket}/none"


def test_an_image_in_parts(tree, bucket, tmp_path):
    images.create(tree, tmp_path / "whole", level=3)
    for number in (2, 1, 3):
        images.create(tree, f"{bucket}/image{number}", level=3, part=(number, 3))
    merged = images.merge([f"{bucket}/image{number}" for number in (1, 2, 3)], f"{bucket}/image")
    assert merged.skipped == []
    import fsspec

    with fsspec.open(f"{bucket}/image") as file:
        assert file.read() == (tmp_path / "whole").read_bytes()
    with images.open(f"{bucket}/image") as opened:
        assert opened.read("d3/f9", 4500, 10) == b"x" * 10
        assert [entry.name for entry in opened.listdir("d3")] == sorted(os.listdir(tree / "d3"))


def test_an_erofs_image_is_read_by_ranges(tree, bucket, tmp_path):
    made = [sys.executable, "-m", "hedgerow", "image", "create", tree, tmp_path / "tree.erofs"]
    if subprocess.run(made, capture_output=True).returncode != 0:
        pytest.skip("this package was built without the command line")
    import fsspec

    system, path = fsspec.core.url_to_fs(f"{bucket}/tree.erofs")
    system.put_file(tmp_path / "tree.erofs", path)
    with images.open(f"{bucket}/tree.erofs") as opened:
        for name in sorted(os.listdir(tree / "d5")):
            assert opened.read(f"d5/{name}") == (tree / "d5" / name).read_bytes()


def test_an_image_that_is_replaced_while_it_is_open(tree, bucket, tmp_path):
    other = tmp_path / "other"
    for path in tree.rglob("*"):
        place = other / path.relative_to(tree)
        if path.is_dir():
            place.mkdir(parents=True)
        else:
            place.write_bytes(os.urandom(path.stat().st_size))
    images.create(tree, f"{bucket}/changing", level=1)
    with images.open(f"{bucket}/changing") as opened:
        before = opened.read("d0/f9")
        images.create(other, f"{bucket}/changing", level=1, replace=True)
        with pytest.raises(OSError) as caught:
            for number in range(12):
                for name in range(10):
                    path = f"d{number}/f{name}"
                    assert opened.read(path) == (tree / path).read_bytes()
    assert before == (tree / "d0/f9").read_bytes()
    assert caught.value.errno == errno.EBUSY
    assert caught.value.filename == f"{bucket}/changing"


def looked_at(bucket):
    """Lists the bucket, as everybody does, so that fsspec remembers it; returns another process's view of it."""
    import s3fs

    s3fs.S3FileSystem().ls(bucket)
    return s3fs.S3FileSystem(skip_instance_cache=True, use_listings_cache=False)


def test_what_others_wrote_since_a_listing_is_not_replaced(tree, bucket):
    others = looked_at(bucket)
    others.pipe_file(f"{bucket}/precious", b"precious")
    for write in (
        lambda: listing.write_parquet(tree, f"{bucket}/precious"),
        lambda: images.create(tree, f"{bucket}/precious"),
    ):
        with pytest.raises(FileExistsError) as caught:
            write()
        assert (caught.value.errno, caught.value.filename) == (errno.EEXIST, f"{bucket}/precious")
    assert others.cat_file(f"{bucket}/precious") == b"precious"
    listing.write_parquet(tree, f"{bucket}/precious", replace=True)
    assert others.cat_file(f"{bucket}/precious")[:4] == b"PAR1"


@pytest.mark.parametrize("has_conditions", [True, False])
def test_what_others_write_meanwhile_is_not_replaced(tree, bucket, monkeypatch, has_conditions):
    from hedgerow import _remote

    others = looked_at(bucket)
    target = f"{bucket}/raced{has_conditions}"
    if not has_conditions:
        monkeypatch.setattr(_remote, "_writes_new_alone", lambda system: False)
    elif not _remote._writes_new_alone(others):
        pytest.skip("this s3fs writes nothing on a condition")
    else:
        # Nor does another look help, where the store sees to it.
        monkeypatch.setattr(_remote, "_is_there", lambda system, path: False)
    with pytest.raises(FileExistsError) as caught:
        images.create(tree, target, progress=lambda *_: others.pipe_file(target, b"first"))
    assert (caught.value.errno, caught.value.filename) == (errno.EEXIST, target)
    assert others.cat_file(target) == b"first"


@pytest.fixture
def refusing(monkeypatch):
    """A store whose answer to a condition is an exception."""
    import s3fs
    from hedgerow import _remote

    system = s3fs.S3FileSystem(skip_instance_cache=True)
    put = system.put_file

    def refuse_with(error):
        def put_file(*arguments, mode="overwrite", **options):
            if mode == "create":
                raise error
            return put(*arguments, **options)

        monkeypatch.setattr(system, "put_file", put_file)
        monkeypatch.setattr(_remote, "_writes_new_alone", lambda _: True)
        monkeypatch.setattr(_remote, "_located", lambda url, _: (system, system._strip_protocol(url)))
        return system

    return refuse_with


class ParamValidationError(Exception):
    """As that of botocore."""


@pytest.mark.parametrize(
    "error", [OSError(errno.ENOSYS, "A header implies what is not implemented"), ParamValidationError()]
)
def test_a_store_without_conditions(tree, bucket, refusing, error):
    """As some that speak the protocol of S3 are."""
    refusing(error)
    target = f"{bucket}/unconditional{type(error).__name__}"
    images.create(tree, target)
    with pytest.raises(FileExistsError):
        images.create(tree, target)


@pytest.mark.parametrize("error", [OSError(errno.EINVAL, "A precondition failed"), RuntimeError("412")])
def test_a_store_that_does_not_say_which_condition_failed(tree, bucket, refusing, error):
    system = refusing(error)
    target = f"{bucket}/unsaid{type(error).__name__}"
    with pytest.raises(type(error)):
        images.create(tree, target)
    with pytest.raises(FileExistsError):
        images.create(tree, target, progress=lambda *_: system.pipe_file(target, b"first"))
    assert system.cat_file(target) == b"first"


def test_what_was_written_since_a_listing_is_read(tree, bucket, tmp_path):
    images.create(tree, f"{bucket}/rewritten", level=1)
    others = looked_at(bucket)
    images.create(tree / "d3", tmp_path / "image", level=1)
    others.pipe_file(f"{bucket}/rewritten", (tmp_path / "image").read_bytes())
    for number in (1, 2):
        images.create(tree, tmp_path / f"part{number}", level=1, part=(number, 2))
        others.put_file(tmp_path / f"part{number}", f"{bucket}/later{number}")
    with images.open(f"{bucket}/rewritten") as opened:
        assert opened.read("f9") == (tree / "d3/f9").read_bytes()
    images.merge([f"{bucket}/later1", f"{bucket}/later2"], tmp_path / "merged")
    images.create(tree, tmp_path / "whole", level=1)
    assert (tmp_path / "merged").read_bytes() == (tmp_path / "whole").read_bytes()


def test_a_damaged_part_is_named_by_its_url(tree, bucket, tmp_path):
    import fsspec

    for number in (1, 2):
        images.create(tree, f"{bucket}/damaged{number}", level=3, part=(number, 2))
    system, path = fsspec.core.url_to_fs(f"{bucket}/damaged2")
    system.pipe_file(path, system.cat_file(path)[:-50])
    with pytest.raises(hedgerow.errors.Error, match=f"'{bucket}/damaged2'"):
        images.merge([f"{bucket}/damaged1", f"{bucket}/damaged2"], tmp_path / "image")
    assert not (tmp_path / "image").exists()


def test_no_secret_is_told(tree, bucket, tmp_path, caplog, capfd):
    with caplog.at_level("DEBUG", logger="hedgerow"):
        with pytest.raises(OSError) as caught:
            listing.write_parquet(tree, "s3://no-such-bucket/file")
    shown = str(caught.value) + caplog.text + "".join(capfd.readouterr())
    assert SECRET not in shown
