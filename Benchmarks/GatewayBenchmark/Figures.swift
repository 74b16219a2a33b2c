import Foundation

/// What `/proc` says about a process.
struct ProcessFigures: Sendable {
    /// User and system time, in steps of 10 ms.
    var cpuSeconds: Double
    /// `VmRSS`.
    var residentKB: Double
    /// Memory that belongs to no file: heap and stacks.
    var anonymousKB: Double

    /// - Throws: ``BenchmarkFailure`` if there is no such process.
    init(pid: Int) throws {
        let stat = try Self.text("/proc/\(pid)/stat")
        // The name in parentheses may hold spaces; time is counted in fields 14 and 15.
        let fields = stat.split(separator: ")").last?.split(separator: " ") ?? []
        guard fields.count > 13, let user = Double(fields[11]), let system = Double(fields[12]) else {
            throw BenchmarkFailure("unexpected /proc/\(pid)/stat")
        }
        self.cpuSeconds = (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
        self.residentKB = Self.kilobytes("VmRSS:", in: try Self.text("/proc/\(pid)/status"))
        self.anonymousKB = Self.kilobytes("Anonymous:", in: try Self.text("/proc/\(pid)/smaps_rollup"))
    }

    static func own() throws -> ProcessFigures {
        try ProcessFigures(pid: Int(getpid()))
    }

    fileprivate static func text(_ path: String) throws -> String {
        // Foundation's reading wants to know the size before, and these files do not say.
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

/// What the whole machine's kernel keeps: both ends of every connection on loopback.
struct KernelFigures: Sendable {
    /// Bytes in socket buffers, by `/proc/net/sockstat`.
    var socketKB: Double
    var slabKB: Double
    var unreclaimableKB: Double

    init() throws {
        let sockets = try ProcessFigures.text("/proc/net/sockstat").split(separator: "\n").first {
            $0.hasPrefix("TCP:")
        }
        let pages = sockets?.split(separator: " ").last.flatMap { Double($0) } ?? 0
        self.socketKB = pages * Double(sysconf(Int32(_SC_PAGESIZE))) / 1024
        let memory = try ProcessFigures.text("/proc/meminfo")
        self.slabKB = ProcessFigures.kilobytes("Slab:", in: memory)
        self.unreclaimableKB = ProcessFigures.kilobytes("SUnreclaim:", in: memory)
    }
}
