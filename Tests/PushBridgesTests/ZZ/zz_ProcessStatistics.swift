import Foundation

/// The statistics of a process in `/proc`.
struct ProcessStatistics: Sendable {
    /// The CPU time, user and system, in steps of 10 ms.
    var cpuSeconds: Double
    /// The resident memory, `VmRSS`, in kilobytes.
    var residentKB: Double
    /// The memory without a file behind it, heap and stacks, in kilobytes.
    var anonymousKB: Double
    /// The peak of the resident memory, `VmHWM`, in kilobytes.
    var peakKB: Double

    /// Reads the statistics, or throws ``BenchmarkFailure`` if the process does not exist.
    init(pid: Int) throws {
        let stat = try Self.text("/proc/\(pid)/stat")
        // The name in parentheses may have spaces. The times are fields 14 and 15.
        let fields = stat.split(separator: ")").last?.split(separator: " ") ?? []
        guard fields.count > 13, let user = Double(fields[11]), let system = Double(fields[12]) else {
            throw BenchmarkFailure("unexpected /proc/\(pid)/stat")
        }
        self.cpuSeconds = (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
        let status = try Self.text("/proc/\(pid)/status")
        self.residentKB = Self.kilobytes("VmRSS:", in: status)
        self.peakKB = Self.kilobytes("VmHWM:", in: status)
        self.anonymousKB = Self.kilobytes("Anonymous:", in: try Self.text("/proc/\(pid)/smaps_rollup"))
    }

    /// Reads the statistics of this process.
    static func own() throws -> ProcessStatistics {
        try ProcessStatistics(pid: Int(getpid()))
    }

    /// Returns the text of a file in `/proc`.
    static func text(_ path: String) throws -> String {
        // Foundation's convenience methods need the size of a file, which these files do not report.
        guard let file = FileHandle(forReadingAtPath: path), let data = try file.readToEnd() else {
            throw BenchmarkFailure("cannot read \(path)")
        }
        return String(decoding: data, as: UTF8.self)
    }

    /// Returns the number in the line that starts with `name`, or 0.
    static func kilobytes(_ name: String, in text: String) -> Double {
        let line = text.split(separator: "\n").first { $0.hasPrefix(name) }
        return line?.split(separator: " ").dropFirst().first.flatMap { Double($0) } ?? 0
    }
}
