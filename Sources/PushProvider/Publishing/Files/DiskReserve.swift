/// The part of the disk that uploaded files leave free for the database.
enum DiskReserve {
    /// Returns the reserve: the number of bytes that files leave free for the database, which needs disk space even to
    /// delete. It is a twentieth of the disk, at least 256 MB and at most 4 GB.
    static func bytes(ofDisk size: Int) -> Int { min(max(256_000_000, size / 20), 4_000_000_000) }
}
