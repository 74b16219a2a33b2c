import AppSimulator
import ArgumentParser
import Benchmarking
import Foundation

/// All readers are notified of an issue, and download it under the provider's limit; then of a second one on the same day.
struct NotifiedReaders: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "readers")

    @OptionGroup var options: LoadOptions

    func run() async throws { try await self.options.withReaders { try await self.measure($0) } }

    private func measure(_ load: PublishingLoad) async throws {
        let (publisher, readers, count) = (load.publisher, load.readers, self.options.count)
        let publication = try await publisher.addPublication(wave: max(100, count / 20), limit: self.options.limit)
        let product = "com.example.issue1"
        let size = self.options.issueBytes
        let first = try await publisher.publish(product, date: "2026-11-20", size: size, publication)
        let before = try ProcessStatistics(pid: self.options.pid)
        let memory = MemoryPeak(pid: self.options.pid)
        let sent = ProviderMeter(publisher)
        await sent.begin()
        load.meter.begin()

        let start = ContinuousClock.now
        let notification = try await publisher.notify(first)
        try await load.wait("downloads") { readers.tally.counts.downloaded + readers.lost >= count }
        let downloads = (ContinuousClock.now - start) / .seconds(1)
        let (arrived, provider) = (load.meter.end(), try await sent.end())
        let campaign = try await publisher.seconds(ofNotification: notification)
        let peak = try await memory.end()
        let (after, own) = (try ProcessStatistics(pid: self.options.pid), try ProcessStatistics.own())
        let counts = readers.tally.counts
        say("after the first issue: \(counts.line)")

        let limit = self.options.limit
        figure("publishing_readers", Double(counts.downloaded), "readers done, of \(count)")
        figure("publishing_bandwidth", arrived.greatest / 1e6, "MB/s over the greatest second, at the readers")
        figure("publishing_bandwidth_mean", arrived.mean / 1e6, "MB/s at the readers")
        figure("publishing_bandwidth_ratio", arrived.greatest / limit, "of the limit, wanted 1.1 at most")
        figure("publishing_sent_ratio", provider.greatest / limit, "of the limit, over the provider's greatest second")
        figure("publishing_sent", provider.total / 1e6, "MB that the provider counts as sent")
        figure("publishing_arrived", arrived.total / 1e6, "MB that arrived at the readers")
        figure("publishing_push_rate", Double(count) / campaign, "pushes/s in steered waves")
        figure("publishing_campaign", campaign, "s from Notify to the end of the notification")
        figure("publishing_downloads", downloads, "s from Notify to the last file")
        figure("publishing_resumed", Double(counts.resumed), "downloads that went on")
        figure("publishing_retried", Double(counts.retried), "steps that came again")
        figure(
            "publishing_cpu",
            (after.cpuSeconds - before.cpuSeconds) * 1e3 / Double(count),
            "ms/reader of the provider"
        )
        figure("publishing_memory_before", before.residentKB / 1024, "MB of the provider")
        figure("publishing_memory", peak / 1024, "MB of the provider at most")
        figure("publishing_readers_memory", own.peakKB / 1024, "MB of all readers at most")
        guard counts.downloaded == count else { throw BenchmarkFailure("readers without a file: \(counts.line)") }
        guard arrived.total == Double(counts.bytes) else {
            throw BenchmarkFailure("\(arrived.total) bytes arrived, of \(counts.bytes) of files")
        }
        try await self.notifyAgain(load, publication)
    }

    /// Notifies a second issue on the same day, of which nobody may load anything.
    private func notifyAgain(_ load: PublishingLoad, _ publication: String) async throws {
        let (tally, count) = (load.readers.tally, self.options.count)
        let second = try await load.publisher.publish("com.example.issue2", date: "2026-11-27", size: 1000, publication)
        let before = tally.counts
        _ = try await load.publisher.notify(second)
        try await load.wait("second pushes") {
            let counts = tally.counts
            let ends = counts.skipped.values.reduce(0, +) + counts.failed + counts.downloaded - before.downloaded
            return counts.woken - before.woken >= count && ends >= count
        }
        let counts = tally.counts
        say("after the second issue: \(counts.line)")
        let again = counts.downloaded - before.downloaded + counts.downloading
        figure("publishing_twice_a_day", Double(again), "readers that downloaded twice, wanted 0")
        guard again == 0, counts.skipped["once_a_day"] == count else {
            throw BenchmarkFailure("a second download on the same day: \(counts.line)")
        }
    }
}
