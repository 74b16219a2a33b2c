import GRDB

extension DatabaseError {
    /// The error in words, which name the disk where that is the cause. SQLite has a message for the last statement of a
    /// connection only, and *not an error* for other failures.
    var reason: String {
        switch self.resultCode.primaryResultCode {
        case .SQLITE_FULL: "the disk is full"
        case .SQLITE_READONLY: "the file or its disk is read-only"
        case .SQLITE_IOERR: "the disk cannot be read or written, or is full (\(self.resultCode))"
        case .SQLITE_CANTOPEN: "a file cannot be opened: the disk is full or read-only, or the folder is not ours"
        default: self.message.flatMap { $0 == "not an error" ? nil : $0 } ?? "\(self.resultCode)"
        }
    }
}
