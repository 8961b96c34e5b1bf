//! What is compiled into the program: an offline tool has no network client.

use std::process::Command;

use crate::support::repository;

#[test]
fn no_network_client_is_compiled() {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--offline", "--locked", "--package", "skill-lift", "--edges", "normal", "--prefix", "none"])
        .current_dir(repository("."))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let tree = String::from_utf8(output.stdout).unwrap();
    let names: Vec<&str> = tree.lines().filter_map(|line| line.split(' ').next()).collect();
    assert!(names.contains(&"polars"), "the list is that of the program");
    for name in ["hyper", "reqwest", "rustls", "native-tls", "openssl", "curl", "object_store", "ureq"] {
        assert!(!names.contains(&name), "{name} is compiled in");
    }
}

#[test]
fn shared_rooms_do_not_depend_on_the_frame_library() {
    for package in ["skill-lift-contract", "skill-lift-text", "skill-lift-stats"] {
        let output = Command::new(env!("CARGO"))
            .args(["tree", "--offline", "--locked", "--package", package, "--edges", "normal", "--prefix", "none"])
            .current_dir(repository("."))
            .output()
            .unwrap();
        let tree = String::from_utf8(output.stdout).unwrap();
        assert!(tree.contains(package), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(!tree.contains("polars") && !tree.contains("clap"), "{package}: {tree}");
    }
}
