import Benchmarking
import Foundation
import MartletKit
import Synchronization

/// The bytes of some time.
struct Bandwidth: Sendable {
    private struct Sample {
        let time: ContinuousClock.Instant
        let bytes: Double
    }

    private var samples: [Sample] = []

    mutating func add(_ bytes: Double, at time: ContinuousClock.Instant = .now) {
        self.samples.append(Sample(time: time, bytes: bytes))
    }

    /// The bytes from the first sample to the last one.
    var total: Double { (self.samples.last?.bytes ?? 0) - (self.samples.first?.bytes ?? 0) }

    /// The bytes per second over the whole time.
    var mean: Double {
        guard let first = self.samples.first, let last = self.samples.last, last.time > first.time else { return 0 }
        return self.total / ((last.time - first.time) / .seconds(1))
    }

    /// The greatest rate over any second, or over less if there is not more, in bytes per second.
    var greatest: Double {
        guard let first = self.samples.first, let last = self.samples.last, last.time > first.time else { return 0 }
        var (greatest, begin) = (0.0, 0)
        for (index, sample) in self.samples.enumerated() {
            // The shortest window of a second or more that ends here.
            while begin + 1 < index, sample.time - self.samples[begin + 1].time >= .seconds(1) { begin += 1 }
            let length = (sample.time - self.samples[begin].time) / .seconds(1)
            guard length >= 1 else { continue }
            greatest = max(greatest, (sample.bytes - self.samples[begin].bytes) / length)
        }
        return last.time - first.time < .seconds(1) ? self.mean : greatest
    }
}

/// Measures the bytes that arrive, in every second.
final class BandwidthMeter: Sendable {
    private static let pause: Duration = .milliseconds(50)

    private let bytes = Atomic(0)
    private let bandwidth = Mutex(Bandwidth())
    private let sampler = Mutex<Task<Void, Never>?>(nil)

    /// The bytes per second since ``begin()``.
    var mean: Double { self.bandwidth.withLock { $0.mean } }

    /// Counts bytes that have arrived.
    func add(_ count: Int) { self.bytes.wrappingAdd(count, ordering: .relaxed) }

    private func sample() {
        let bytes = Double(self.bytes.load(ordering: .relaxed))
        self.bandwidth.withLock { $0.add(bytes) }
    }

    /// Begins a measurement, in place of one that runs.
    func begin() {
        self.sampler.withLock { $0?.cancel() }
        self.bandwidth.withLock { $0 = Bandwidth() }
        self.sample()
        let task = Task {
            while (try? await Task.sleep(for: Self.pause)) != nil { self.sample() }
        }
        self.sampler.withLock { $0 = task }
    }

    /// Ends the measurement, and returns it.
    func end() -> Bandwidth {
        self.sampler.withLock { $0?.cancel() }
        self.sample()
        return self.bandwidth.withLock { $0 }
    }
}

/// The bytes that the provider counts as sent, in every second.
actor ProviderMeter {
    private static let pause: Duration = .milliseconds(250)

    private let publisher: Publisher
    private var task: Task<Bandwidth, any Error>?

    init(_ publisher: Publisher) { self.publisher = publisher }

    func begin() {
        let publisher = self.publisher
        self.task = Task {
            var bandwidth = Bandwidth()
            while true {
                let isLast = Task.isCancelled
                // A cancelled task could not ask.
                let bytes = try await Task { try await publisher.bytesSent() }.value
                bandwidth.add(bytes)
                if isLast { return bandwidth }
                try? await Task.sleep(for: Self.pause)
            }
        }
    }

    /// Ends the measurement, and returns it.
    func end() async throws -> Bandwidth {
        self.task?.cancel()
        return try await self.task?.value ?? Bandwidth()
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
