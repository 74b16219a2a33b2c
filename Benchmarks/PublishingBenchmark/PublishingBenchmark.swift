import AppSimulator
import ArgumentParser
import Benchmarking
import Foundation
import MartletKit
import PushTypes

/// The load of `make bench-publishing`: readers that a provider notifies, and the push service between them. It prints lines
/// `figure NAME VALUE UNIT`, and fails if it could not measure or a reader has no file.
@main
struct PublishingBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Readers for measuring a provider's publishing.")

    @OptionGroup var push: PushStandInOptions
    @Option(help: "Port of the API on localhost.") var port: Int
    @Option(help: "An admin API key.") var apiKey: String
    @Option(help: "The key of the registration form.") var door: String
    @Option(help: "The app's .p8 file.") var key: String
    @Option(help: "Process id of the provider.") var pid: Int
    @Option(help: "How many readers there are.") var count: Int
    @Option(help: "Bytes of the issue.") var issueBytes: Int
    @Option(help: "The provider's bandwidth limit, in bytes per second.") var limit: Double
    @Option(help: "Requests and downloads at a time.") var connections = 400
    @Option(help: "Seconds after which it is given up.") var patience = 3600.0

    func run() async throws {
        let client = SharedHTTPClient(connections: self.connections)
        let meter = BandwidthMeter()
        let transport = MeteredTransport(HTTPClientTransport(sharing: client), meter: meter)
        let publisher = Publisher(base: "http://127.0.0.1:\(self.port)", apiKey: self.apiKey, transport: transport)
        let publicKey = try await publisher.addApp(key: try String(contentsOfFile: self.key, encoding: .utf8))
        let readers = try BenchmarkReaders(
            count: self.count,
            provider: publisher.base,
            publicKey: publicKey,
            door: self.door,
            transport: transport
        )
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await PushStandIn(options: self.push, readers: readers).run()
                throw BenchmarkFailure("the push service has ended")
            }
            group.addTask { try await self.measure(publisher, readers, meter) }
            defer { group.cancelAll() }
            try await group.next()
        }
        try await client.close()
    }

    private func measure(_ publisher: Publisher, _ readers: BenchmarkReaders, _ meter: BandwidthMeter) async throws {
        var start = ContinuousClock.now
        try await readers.register()
        let registering = (ContinuousClock.now - start) / .seconds(1)
        figure("publishing_register_rate", Double(self.count) / registering, "readers/s by the form")
        let publication = try await publisher.addPublication(wave: max(100, self.count / 20), limit: self.limit)
        let first = try await publisher.publish(
            "com.example.issue1",
            date: "2026-11-20",
            size: self.issueBytes,
            publication
        )
        let before = try ProcessStatistics(pid: self.pid)
        let memory = MemoryPeak(pid: self.pid)
        meter.begin()

        start = .now
        let notification = try await publisher.notify(first)
        try await self.wait("downloads", start, readers.tally) {
            readers.tally.counts.downloaded + readers.lost >= self.count
        }
        let downloads = (ContinuousClock.now - start) / .seconds(1)
        let bandwidth = meter.end()
        let campaign = try await publisher.seconds(ofNotification: notification)
        let peak = try await memory.end()
        let counts = readers.tally.counts
        say("after the first issue: \(counts.line)")

        figure("publishing_readers", Double(counts.downloaded), "readers done, of \(self.count)")
        figure("publishing_bandwidth", bandwidth.greatest / 1e6, "MB/s over the greatest second")
        figure("publishing_bandwidth_mean", bandwidth.mean / 1e6, "MB/s")
        figure("publishing_bandwidth_ratio", bandwidth.greatest / self.limit, "of the limit, wanted 1.1 at most")
        figure("publishing_push_rate", Double(self.count) / campaign, "pushes/s in steered waves")
        figure("publishing_campaign", campaign, "s from Notify to the end of the notification")
        figure("publishing_downloads", downloads, "s from Notify to the last file")
        figure("publishing_resumed", Double(counts.resumed), "downloads that went on")
        figure("publishing_retried", Double(counts.retried), "steps that came again")
        figure("publishing_memory_before", before.residentKB / 1024, "MB of the provider")
        figure("publishing_memory", peak / 1024, "MB of the provider at most")
        guard counts.downloaded == self.count else { throw BenchmarkFailure("readers without a file: \(counts.line)") }
        try await self.notifyAgain(publisher, readers, publication)
    }

    /// Notifies a second issue on the same day, of which nobody may load anything.
    private func notifyAgain(_ publisher: Publisher, _ readers: BenchmarkReaders, _ publication: String) async throws {
        let second = try await publisher.publish("com.example.issue2", date: "2026-11-27", size: 1000, publication)
        let (start, before) = (ContinuousClock.now, readers.tally.counts)
        _ = try await publisher.notify(second)
        try await self.wait("second pushes", start, readers.tally) {
            readers.tally.counts.woken - before.woken >= self.count
        }
        let counts = readers.tally.counts
        say("after the second issue: \(counts.line)")
        let again = counts.downloaded - before.downloaded + counts.downloading
        figure("publishing_twice_a_day", Double(again), "readers that downloaded twice, wanted 0")
        guard again == 0, counts.skipped["once_a_day"] == self.count else {
            throw BenchmarkFailure("a second download on the same day: \(counts.line)")
        }
    }

    /// Waits, and says every ten seconds how far it is.
    private func wait(
        _ name: String,
        _ start: ContinuousClock.Instant,
        _ tally: FleetTally,
        until isDone: () -> Bool
    ) async throws {
        var next = start + .seconds(10)
        while !isDone() {
            if next < .now {
                say("\(name): \(tally.counts.line)")
                next += .seconds(10)
            }
            guard (ContinuousClock.now - start) / .seconds(1) < self.patience else {
                throw BenchmarkFailure("no end of the \(name) within \(self.patience) s")
            }
            try await Task.sleep(for: .milliseconds(50))
        }
    }
}

/// Prints a line for people.
func say(_ text: String) { FileHandle.standardError.write(Data("\(text)\n".utf8)) }
