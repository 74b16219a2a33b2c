import Foundation

/// The memory of this process, as the operating system reports it.
package enum ProcessMemory {
    /// The bytes that are not swapped out; `nil` where there is no `/proc`.
    package static var resident: Int? {
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return nil }
        let fields = text.split(separator: " ")
        guard fields.count > 1, let pages = Int(fields[1]) else { return nil }
        return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
    }
}
