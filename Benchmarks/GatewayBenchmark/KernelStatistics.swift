import Benchmarking
import Foundation

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
