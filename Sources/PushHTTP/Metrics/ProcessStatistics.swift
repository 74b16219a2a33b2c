import Foundation

/// The resources that this process uses, as the operating system reports them; `nil` where there is no `/proc`.
package enum ProcessStatistics {
    /// The bytes that are not swapped out.
    package static var residentMemory: Int? {
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return nil }
        let fields = text.split(separator: " ")
        guard fields.count > 1, let pages = Int(fields[1]) else { return nil }
        return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
    }

    /// The processor time of all threads, in seconds.
    static var cpuSeconds: Double? {
        // The name in parentheses may hold spaces. After it, the times are the 12th and 13th field.
        guard let text = try? String(contentsOfFile: "/proc/self/stat", encoding: .utf8),
            let fields = text.split(separator: ")").last?.split(separator: " "), fields.count > 12,
            let user = Double(fields[11]), let system = Double(fields[12])
        else { return nil }
        return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    /// The number of open files and sockets.
    static var openFiles: Int? { try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count }

    /// The limit of ``openFiles``.
    static var maximumOpenFiles: Int? {
        let text = try? String(contentsOfFile: "/proc/self/limits", encoding: .utf8)
        let line = text?.split(separator: "\n").first { $0.hasPrefix("Max open files") }
        return line?.split(separator: " ").dropFirst(3).first.flatMap { Int($0) }
    }
}
