import Benchmarking
import Foundation
import MartletKit
import Synchronization

/// Measures the bytes that arrive, in every second.
final class BandwidthMeter: Sendable {
    private struct Sample {
        let time: ContinuousClock.Instant
        let bytes: Int
    }

    private static let pause: Duration = .milliseconds(50)

    private let bytes = Atomic(0)
    private let samples = Mutex<[Sample]>([])
    private let sampler = Mutex<Task<Void, Never>?>(nil)

    /// Counts bytes that have arrived.
    func add(_ count: Int) { self.bytes.wrappingAdd(count, ordering: .relaxed) }

    private func sample() {
        let sample = Sample(time: .now, bytes: self.bytes.load(ordering: .relaxed))
        self.samples.withLock { $0.append(sample) }
    }

    func begin() {
        self.samples.withLock { $0 = [] }
        let task = Task {
            while !Task.isCancelled {
                self.sample()
                try? await Task.sleep(for: Self.pause)
            }
        }
        self.sampler.withLock { $0 = task }
    }

    /// Ends the measurement.
    /// - Returns: The greatest rate over any second, and that over the whole time, in bytes per second.
    func end() -> (greatest: Double, mean: Double) {
        self.sampler.withLock { $0?.cancel() }
        self.sample()
        let samples = self.samples.withLock { $0 }
        guard let first = samples.first, let last = samples.last, last.time > first.time else { return (0, 0) }
        var (greatest, begin) = (0.0, 0)
        for (index, sample) in samples.enumerated() {
            // The shortest window of a second or more that ends here.
            while begin + 1 < index, sample.time - samples[begin + 1].time >= .seconds(1) { begin += 1 }
            let length = (sample.time - samples[begin].time) / .seconds(1)
            guard length >= 1 else { continue }
            greatest = max(greatest, Double(sample.bytes - samples[begin].bytes) / length)
        }
        let seconds = (last.time - first.time) / .seconds(1)
        let mean = Double(last.bytes - first.bytes) / seconds
        return (max(greatest, seconds < 1 ? mean : 0), mean)
    }
}

/// A transport whose downloads are measured.
struct MeteredTransport: DownloadTransport {
    private let transport: any DownloadTransport
    private let meter: BandwidthMeter

    init(_ transport: any DownloadTransport, meter: BandwidthMeter) {
        (self.transport, self.meter) = (transport, meter)
    }

    func send(_ request: TransportRequest) async throws -> TransportResponse { try await self.transport.send(request) }

    func receive(_ request: TransportRequest, _ part: @escaping @Sendable (ResponsePart) throws -> Void) async throws {
        try await self.transport.receive(request) { arrived in
            if case .body(let bytes) = arrived { self.meter.add(bytes.count) }
            try part(arrived)
        }
    }
}

/// The greatest resident memory of a process while this exists.
actor MemoryPeak {
    private let task: Task<Double, any Error>

    init(pid: Int) {
        self.task = Task {
            var peak = 0.0
            while !Task.isCancelled {
                peak = max(peak, try ProcessStatistics(pid: pid).residentKB)
                try? await Task.sleep(for: .milliseconds(200))
            }
            return peak
        }
    }

    /// Ends the measurement, and returns the kilobytes.
    func end() async throws -> Double {
        self.task.cancel()
        return try await self.task.value
    }
}
