"""How much memory a large checkout takes besides the mapped packs."""

from contenders import hedgerow
from measure import median
from places import Place, require_free, tmpfs
from results import Outcome, Row


def memory(setting):
    repository = setting.corpora.linux()
    require_free(tmpfs(), 100 if setting.is_smoke else 4000)
    with Place(tmpfs(), repository) as place:
        samples = []
        for _ in range(setting.pairs):
            place.empty()
            samples += [place.run([hedgerow("checkout", "-q")], watch_memory=True)]
        place.require_clean()
    megabytes = [sample.anon_kib * 1024 / 1e6 for sample in samples]
    row = Row("memory", "Linux, peak memory besides mapped files", "MB", median(megabytes),
              min(megabytes), max(megabytes), 120, 60, is_lower_better=True,
              note="peak of RssAnon, polled every millisecond")
    rss = median([sample.max_rss_kib * 1024 / 1e6 for sample in samples])
    return Outcome([row], {}, {"rss_with_mapped_packs_mb": round(rss, 1)})
