//! The examples for clusters run: on a Dask cluster of four processes, with Slurm and Open MPI where
//! they are installed, and with the variables that Kubernetes sets.

use crate::checkouts::{assert_checked_out, scene, unchecked};
use crate::tables::tree;
use crate::{hedgerow, HEDGEROW};
use hedgerow_testkit::{is_there, require, run, skip};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../examples")
        .join(name)
}

/// A tree, and the listing of it that one machine writes.
struct Scene(tempfile::TempDir);

impl Scene {
    fn new() -> Self {
        let place = tempfile::tempdir().unwrap();
        fs::create_dir(place.path().join("tree")).unwrap();
        tree(&place.path().join("tree"));
        let words = ["walk", "--format", "parquet", "-o", "whole", "tree"];
        hedgerow(place.path(), &words).ok("whole");
        Scene(place)
    }

    /// A command that finds hedgerow in its PATH.
    fn command(&self, program: impl Into<OsString>) -> Command {
        let mut command = HEDGEROW.command(self.0.path());
        let binary = Path::new(command.get_program())
            .parent()
            .unwrap()
            .to_owned();
        let path = std::env::var_os("PATH").unwrap();
        let path = std::iter::once(binary).chain(std::env::split_paths(&path));
        let path = std::env::join_paths(path).unwrap();
        command = Command::new(program.into());
        command.env("PATH", path).current_dir(self.0.path());
        command
    }

    /// The listing in `out` is that of one machine, of more than one part.
    fn assert_merged(&self, out: &str) {
        let read = |name: &str| fs::read(self.0.path().join(name)).unwrap();
        assert!(read(out) == read("whole"), "{out}");
        let entries = fs::read_dir(self.0.path()).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let rests = names.filter(|name| name.starts_with(out) && name.ends_with(".rest"));
        assert!(rests.count() > 3);
    }
}

/// A Python that can import this module: `HEDGEROW_TEST_PYTHON`, or `python3`.
fn python_with(module: &str) -> Option<OsString> {
    let python = std::env::var_os("HEDGEROW_TEST_PYTHON").unwrap_or("python3".into());
    let mut import = Command::new(&python);
    let found = import.args(["-c", &format!("import {module}")]).output();
    if found.is_ok_and(|output| output.status.success()) {
        return Some(python);
    }
    skip(&format!(
        "{module} is not installed for python3 (HEDGEROW_TEST_PYTHON names another)"
    ));
    None
}

/// Runs the example on a cluster, and kills a worker when some parts are there.
const CLUSTER: &str = r#"
import glob, os, signal, subprocess, sys, time
from dask.distributed import LocalCluster
if __name__ == "__main__":
    cluster = LocalCluster(n_workers=4, threads_per_worker=1, processes=True, dashboard_address=None)
    example = subprocess.Popen([sys.executable, sys.argv[1], "tree", "out", "2", cluster.scheduler_address])
    while len(glob.glob("out.part*")) < 8 and example.poll() is None:
        time.sleep(0.01)
    assert example.poll() is None, "it is over before a worker is killed"
    os.kill(list(cluster.workers.values())[0].pid, signal.SIGKILL)
    code = example.wait()
    cluster.close()
    sys.exit(code)
"#;

#[test]
fn a_dask_cluster_loses_a_worker() {
    let Some(python) = python_with("dask.distributed") else {
        return;
    };
    let scene = Scene::new();
    fs::write(scene.0.path().join("cluster.py"), CLUSTER).unwrap();
    let mut cluster = scene.command(python);
    cluster.arg("cluster.py").arg(example("walk_dask.py"));
    run(cluster).ok("the example for Dask");
    scene.assert_merged("out");
}

#[test]
fn open_mpi_lists_a_tree() {
    if !require("mpiexec") {
        return;
    }
    let Some(python) = python_with("mpi4py.MPI") else {
        return;
    };
    let scene = Scene::new();
    let mut mpi = scene.command("mpiexec");
    mpi.args(["--allow-run-as-root", "--oversubscribe", "-n", "4"]);
    mpi.arg(python)
        .args(["-m", "mpi4py.futures"])
        .arg(example("walk_mpi.py"));
    mpi.args(["tree", "out", "20"]);
    run(mpi).ok("the example for MPI");
    scene.assert_merged("out");
}

/// Slurm runs where somebody has started it: `sinfo` knows a node.
#[test]
fn slurm_lists_a_tree() {
    let asked = is_there("sbatch").then(|| {
        Command::new("sinfo")
            .args(["-h", "-t", "idle,mix"])
            .output()
    });
    let has_node = asked.is_some_and(|asked| asked.is_ok_and(|asked| !asked.stdout.is_empty()));
    if !has_node {
        return skip("no node of Slurm is idle here");
    }
    let scene = Scene::new();
    let mut slurm = scene.command(example("walk_slurm.sh"));
    slurm.args(["tree", "out", "20", "3"]);
    run(slurm).ok("the example for Slurm");
    scene.assert_merged("out");
}

/// The commands of an Indexed Job, each with the variable that Kubernetes sets.
#[test]
fn kubernetes_checks_out_a_commit() {
    let text = fs::read_to_string(example("checkout_kubernetes.yaml")).unwrap();
    let mut commands = text.lines().filter_map(|line| {
        let list = line.trim().strip_prefix("command: ")?;
        let words: Vec<String> = serde_json::from_str(list).unwrap();
        assert_eq!(words[..3], ["hedgerow", "-C", "/work/tree"]);
        Some(words[3..].to_vec())
    });
    let (share, finish) = (commands.next().unwrap(), commands.next().unwrap());
    let scene = scene();
    let place = hedgerow_testkit::temporary();
    let repository = unchecked(&scene, &place.path().join("work"));
    crate::at_once((0..8).map(|index| {
        let mut command = HEDGEROW.command(&repository.root);
        command
            .args(&share)
            .env("JOB_COMPLETION_INDEX", index.to_string());
        command
    }));
    let finish: Vec<&str> = finish.iter().map(String::as_str).collect();
    hedgerow(&repository.root, &finish).ok("finish");
    assert_checked_out(&scene, &repository);
}
