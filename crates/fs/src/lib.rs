//! All system calls of hedgerow.
//!
//! The other crates access the operating system only through this one. It provides mechanisms and
//! decides no policy: it opens, lists, stats, creates, renames and removes files, counts processors
//! and measures thread times. Its calls can be made to fail ([`fault`]) so that tests can check how
//! the rest of the program reacts.
//!
//! Everything written below a target is written relative to a [`Dir`] handle; the kernel keeps the
//! resolution of names beneath the handle and free of symbolic links.

mod account;
mod answer;
mod attributes;
mod clock;
pub mod cpu;
mod descriptors;
mod destination;
mod dir;
mod error;
pub mod fault;
mod file;
mod file_system;
mod filter_process;
mod held_name;
mod iconv;
mod inherit;
mod interrupt;
mod listed_file;
mod listing;
mod local_socket;
mod lock;
mod loop_device;
mod mapped_file;
mod memory;
mod mount;
mod mount_table;
mod output_file;
mod own_program;
mod path;
mod private_dir;
mod proc_file;
mod process;
mod range_lock;
mod single_writer;
mod spool_file;
mod standard_input;
mod standard_output;
mod stat;
mod system_limits;
mod terminal;
pub mod thread_time;
pub mod threads;
mod variables;
mod xattr;
mod zeros;

pub use account::{
    account_by_name, account_by_uid, effective_uid, group_by_gid, group_by_name, host_name,
    Account, Group,
};
pub use answer::Answer;
pub use attributes::{effective_ids, umask, Attributes, OpenNode};
pub use clock::{file_time, local_offset, now, LocalOffset};
pub use descriptors::{
    descriptor_limit, descriptor_shortages, free_descriptors, raise_descriptor_limit,
};
pub use destination::{Destination, OutputStream, Sink};
pub use dir::{Dir, DirEntry, NewFile};
pub use error::{is_absent, is_missing, is_unfollowed_link, reason, Error, Result};
pub use file::{
    check_directory, exists, is_directory, is_there, list_directory, read_file, read_link,
    real_path, start_directory, ReadFile, NAMELESS_DIRECTORY,
};
pub use file_system::{FileSystem, FileSystemPlace};
pub use filter_process::{FilterCancel, FilterProcess, Transfer};
pub use iconv::Iconv;
pub use inherit::close_inherited_descriptors_on_exec;
pub use interrupt::{
    catch_interrupts, caught_signal, end_by_closed_pipe, end_by_signal, remove_names_at_signals,
};
pub use listing::{until_removed, Listed, Listing, OpenDirectory, ReadBuffer};
pub use local_socket::connect_local;
pub use lock::{behind_links, left_locks, left_locks_of, LockFile};
pub use mapped_file::MappedFile;
pub use memory::{peak_memory_besides_mapped_files, return_freed_blocks};
pub use mount::{
    is_layer_in_use, knows_file_system, may_mount, mount_image, mount_overlay, prepare_overlay,
    unmount, OpenImage, Overlay,
};
pub use mount_table::{mount_at, mounts, Mount};
pub use output_file::OutputFile;
pub use own_program::{own_program, own_program_stat};
pub use path::{
    append_file, append_private_file, create_directories, create_directory, create_link,
    find_other_program, identity, is_executable, lstat, remove_directory, remove_empty_directories,
    remove_file, rename, set_group, set_permissions, stat, stat_path, sync_directory, touch,
    Identity,
};
pub use private_dir::PrivateDir;
pub use process::{Exit, Process};
pub use range_lock::RangeLock;
pub use single_writer::Claim;
pub use spool_file::SpoolFile;
pub use standard_input::{InputBefore, StandardInput};
pub use standard_output::StandardOutput;
pub use stat::{device_numbers, FileKind, Stat, Timestamp};
pub use system_limits::{thread_limit, watch_limit};
pub use terminal::terminal_width;
pub use variables::set_variables;
pub use xattr::Xattrs;
pub use zeros::{is_zero, HOLE_BYTES};
