import Foundation

/// The CPU time of this process, user and system.
enum CPUTime {
    #if canImport(Darwin)
    private static let thisProcess = RUSAGE_SELF
    #else
    private static let thisProcess = __rusage_who_t(RUSAGE_SELF.rawValue)
    #endif

    static var seconds: Double {
        var usage = rusage()
        guard getrusage(Self.thisProcess, &usage) == 0 else { return 0 }
        return Self.seconds(usage.ru_utime) + Self.seconds(usage.ru_stime)
    }

    private static func seconds(_ time: timeval) -> Double {
        Double(time.tv_sec) + Double(time.tv_usec) / 1e6
    }
}

enum Memory {
    /// The resident memory of this process, in kilobytes; 0 if the system does not report it.
    static var residentKB: Int {
        guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
            let line = status.split(separator: "\n").first(where: { $0.hasPrefix("VmRSS:") }),
            let number = line.split(whereSeparator: { !$0.isNumber }).first
        else { return 0 }
        return Int(number) ?? 0
    }
}
