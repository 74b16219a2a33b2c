import Foundation

/// What `/proc` says about a process.
struct ProcessFigures: Sendable {
    /// User and system time, in steps of 10 ms.
    var cpuSeconds: Double
    /// `VmHWM`: the most resident memory that it has had, in kilobytes.
    var peakKB: Double

    /// - Throws: ``BenchmarkFailure`` if there is no such process.
    init(pid: Int) throws {
        // The name in parentheses may hold spaces; time is counted in fields 14 and 15.
        let fields = try Self.text("/proc/\(pid)/stat").split(separator: ")").last?.split(separator: " ") ?? []
        guard fields.count > 13, let user = Double(fields[11]), let system = Double(fields[12]) else {
            throw BenchmarkFailure("unexpected /proc/\(pid)/stat")
        }
        self.cpuSeconds = (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
        let line = try Self.text("/proc/\(pid)/status").split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        self.peakKB = line?.split(separator: " ").dropFirst().first.flatMap { Double($0) } ?? 0
    }

    static func own() throws -> ProcessFigures {
        try ProcessFigures(pid: Int(getpid()))
    }

    private static func text(_ path: String) throws -> String {
        // Foundation's reading wants to know the size before, and these files do not say.
        guard let file = FileHandle(forReadingAtPath: path), let data = try file.readToEnd() else {
            throw BenchmarkFailure("cannot read \(path)")
        }
        return String(decoding: data, as: UTF8.self)
    }
}
