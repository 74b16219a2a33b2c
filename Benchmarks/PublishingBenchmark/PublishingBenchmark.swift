import AppSimulator
import ArgumentParser
import Benchmarking
import Foundation
import MartletKit

/// The load of `make bench-publishing`: readers that a provider notifies, and the push service between them. It prints lines
/// `figure NAME VALUE UNIT`, and fails if it could not measure or something was lost.
@main
struct PublishingBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Readers for measuring a provider's publishing.",
        subcommands: [NotifiedReaders.self, BesideDownloads.self]
    )
}

/// The provider that is measured, and the load.
struct LoadOptions: ParsableArguments {
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

    /// Runs `body` with registered readers, whose push service runs meanwhile.
    func withReaders(_ body: @escaping @Sendable (PublishingLoad) async throws -> Void) async throws {
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
            transport: transport,
            working: self.connections
        )
        let load = PublishingLoad(options: self, publisher: publisher, readers: readers, meter: meter)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await PushStandIn(options: self.push, readers: readers).run()
                throw BenchmarkFailure("the push service has ended")
            }
            group.addTask {
                let start = ContinuousClock.now
                try await readers.register()
                let seconds = (ContinuousClock.now - start) / .seconds(1)
                figure("publishing_register_rate", Double(self.count) / seconds, "readers/s by the form")
                try await body(load)
            }
            defer { group.cancelAll() }
            try await group.next()
        }
        try await client.close()
    }
}

/// The parts of a run.
struct PublishingLoad: Sendable {
    let options: LoadOptions
    let publisher: Publisher
    let readers: BenchmarkReaders
    let meter: BandwidthMeter

    /// Waits, and says every ten seconds how far it is.
    func wait(_ name: String, until isDone: () -> Bool) async throws {
        let start = ContinuousClock.now
        var next = start + .seconds(10)
        while !isDone() {
            if next < .now {
                say("\(name): \(self.readers.tally.counts.line)")
                next += .seconds(10)
            }
            guard (ContinuousClock.now - start) / .seconds(1) < self.options.patience else {
                throw BenchmarkFailure("no end of the \(name) within \(self.options.patience) s")
            }
            try await Task.sleep(for: .milliseconds(50))
        }
    }
}

/// Prints a line for people.
func say(_ text: String) { FileHandle.standardError.write(Data("\(text)\n".utf8)) }
