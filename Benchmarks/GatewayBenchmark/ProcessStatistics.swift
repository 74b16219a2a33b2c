import Foundation

/// The statistics of a process in `/proc`.
struct ProcessStatistics: Sendable {
    /// The CPU time, user and system, in steps of 10 ms.
    var cpuSeconds: Double
    /// The resident memory, `VmRSS`, in kilobytes.
    var residentKB: Double
    /// The memory without a file behind it, heap and stacks, in kilobytes.
    var anonymousKB: Double

    /// Reads the statistics, or throws ``BenchmarkFailure`` if the process does not exist.
    init(pid: Int) throws {
        let stat = try Self.text("/proc/\(pid)/stat")
        // The name in parentheses may have spaces. The times are fields 14 and 15.
        let fields = stat.split(separator: ")").last?.split(separator: " ") ?? []
        guard fields.count > 13, let user = Double(fields[11]), let system = Double(fields[12]) else {
            throw BenchmarkFailure("unexpected /proc/\(pid)/stat")
        }
        self.cpuSeconds = (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
        self.residentKB = Self.kilobytes("VmRSS:", in: try Self.text("/proc/\(pid)/status"))
        self.anonymousKB = Self.kilobytes("Anonymous:", in: try Self.text("/proc/\(pid)/smaps_rollup"))
    }

    static func own() throws -> ProcessStatistics {
        try ProcessStatistics(pid: Int(getpid()))
    }

    fileprivate static func text(_ path: String) throws -> String {
        // Foundation's convenience methods need the size of a file, which these files do not report.
        guard let file = FileHandle(forReadingAtPath: path), let data = try file.readToEnd() else {
            throw BenchmarkFailure("cannot read \(path)")
        }
        return String(decoding: data, as: UTF8.self)
    }

    fileprivate static func kilobytes(_ name: String, in text: String) -> Double {
        let line = text.split(separator: "\n").first { $0.hasPrefix(name) }
        return line?.split(separator: " ").dropFirst().first.flatMap { Double($0) } ?? 0
    }
}

/// The memory of the kernel, which has both ends of every connection on loopback.
struct KernelStatistics: Sendable {
    /// The memory of socket buffers, from `/proc/net/sockstat`, in kilobytes.
    var socketKB: Double
    var slabKB: Double
    var unreclaimableKB: Double

    init() throws {
        let sockets = try ProcessStatistics.text("/proc/net/sockstat").split(separator: "\n").first {
            $0.hasPrefix("TCP:")
        }
        let pages = sockets?.split(separator: " ").last.flatMap { Double($0) } ?? 0
        self.socketKB = pages * Double(sysconf(Int32(_SC_PAGESIZE))) / 1024
        let memory = try ProcessStatistics.text("/proc/meminfo")
        self.slabKB = ProcessStatistics.kilobytes("Slab:", in: memory)
        self.unreclaimableKB = ProcessStatistics.kilobytes("SUnreclaim:", in: memory)
    }
}
