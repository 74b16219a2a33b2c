import AppSimulator
import ArgumentParser
import Benchmarking
import Foundation
import MartletKit

/// A campaign to all devices alone, and beside downloads at the provider's limit, in turn.
struct BesideDownloads: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "beside")

    /// The share of the limit at which the downloads count as running.
    private static let share = 0.8
    private static let product = "com.example.issue1"

    @OptionGroup var options: LoadOptions
    @Option(help: "Campaigns of each kind.") var pairs = 5
    @Option(help: "Downloads at a time.") var downloads = 100

    func run() async throws { try await self.options.withReaders { try await self.measure($0) } }

    private func measure(_ load: PublishingLoad) async throws {
        let publisher = load.publisher
        let publication = try await publisher.addPublication(wave: 10_000, limit: self.options.limit)
        _ = try await publisher.publish(Self.product, date: "2026-11-20", size: self.options.issueBytes, publication)
        var (alone, beside, ratios, bandwidths): ([Double], [Double], [Double], [Double]) = ([], [], [], [])
        _ = try await self.campaign(load)
        for pair in 1...self.pairs {
            // Neither kind is always the first one.
            var quiet: Double?
            if pair.isMultiple(of: 2) { quiet = try await self.campaign(load) }
            let (rate, bandwidth) = try await self.whileDownloading(load) { try await self.campaign(load) }
            let other = if let quiet { quiet } else { try await self.campaign(load) }
            alone.append(other)
            beside.append(rate)
            ratios.append(rate / other)
            bandwidths.append(bandwidth)
            let text = "\(Int(other))/s alone, \(Int(rate))/s beside downloads of \(bandwidth / 1e6) MB/s"
            say("campaigns, pair \(pair): \(text)")
        }
        func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
        figure("publishing_campaign_alone", median(alone), "pushes/s of a campaign alone")
        figure("publishing_campaign_beside", median(beside), "pushes/s of a campaign beside downloads at the limit")
        figure("publishing_beside_ratio", median(ratios), "of the rate alone")
        let bandwidth = median(bandwidths) / self.options.limit
        figure("publishing_beside_bandwidth", bandwidth, "of the limit, during the campaigns")
        guard bandwidth > Self.share else { throw BenchmarkFailure("the downloads did not run at the limit") }
    }

    /// Sends a notification to all devices, and returns the pushes per second.
    private func campaign(_ load: PublishingLoad) async throws -> Double {
        let notification = try await load.publisher.notifyAll("Nothing to download")
        return Double(self.options.count) / (try await load.publisher.seconds(ofNotification: notification))
    }

    /// Runs `body` while the issue is downloaded again and again.
    /// - Returns: The value of `body`, and the bytes per second that arrived meanwhile.
    private func whileDownloading(
        _ load: PublishingLoad,
        _ body: () async throws -> Double
    ) async throws -> (Double, Double) {
        let (newsstand, meter) = (load.readers.newsstand, load.meter)
        let grant = try await newsstand.downloadGrant(for: Self.product, screenSize: "2048x1536")
        return try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<self.downloads {
                group.addTask {
                    let request = TransportRequest(method: "GET", url: grant.file.url)
                    while !Task.isCancelled {
                        do {
                            try await load.publisher.transport.receive(request) { part in
                                guard case .head(let head) = part, head.status != 200 else { return }
                                throw BenchmarkFailure("a download has the status \(head.status)")
                            }
                        } catch let error as BenchmarkFailure {
                            throw error
                        } catch  where Task.isCancelled {
                            return
                        }
                    }
                }
            }
            defer { group.cancelAll() }
            for _ in 0..<30 where meter.mean < Self.share * self.options.limit {
                meter.begin()
                try await Task.sleep(for: .seconds(1))
            }
            meter.begin()
            let value = try await body()
            return (value, meter.end().mean)
        }
    }
}
