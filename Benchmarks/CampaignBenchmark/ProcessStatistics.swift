import Foundation

/// The statistics of a process in `/proc`.
struct ProcessStatistics: Sendable {
    /// The CPU time, user and system, in steps of 10 ms.
    var cpuSeconds: Double
    /// The peak of the resident memory, `VmHWM`, in kilobytes.
    var peakKB: Double

    /// Reads the statistics, or throws ``BenchmarkFailure`` if the process does not exist.
    init(pid: Int) throws {
        // The name in parentheses may have spaces. The times are fields 14 and 15.
        let fields = try Self.text("/proc/\(pid)/stat").split(separator: ")").last?.split(separator: " ") ?? []
        guard fields.count > 13, let user = Double(fields[11]), let system = Double(fields[12]) else {
            throw BenchmarkFailure("unexpected /proc/\(pid)/stat")
        }
        self.cpuSeconds = (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
        let line = try Self.text("/proc/\(pid)/status").split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        self.peakKB = line?.split(separator: " ").dropFirst().first.flatMap { Double($0) } ?? 0
    }

    static func own() throws -> ProcessStatistics {
        try ProcessStatistics(pid: Int(getpid()))
    }

    private static func text(_ path: String) throws -> String {
        // Foundation's convenience methods need the size of a file, which these files do not report.
        guard let file = FileHandle(forReadingAtPath: path), let data = try file.readToEnd() else {
            throw BenchmarkFailure("cannot read \(path)")
        }
        return String(decoding: data, as: UTF8.self)
    }
}
