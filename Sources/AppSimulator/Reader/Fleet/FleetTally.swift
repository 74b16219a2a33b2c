package import PushSupport
import Synchronization

/// The counts of the events of a fleet's readers.
package final class FleetTally: Sendable {
    /// The number of events of each kind since the start.
    package struct Counts: Hashable, Sendable {
        package var registered = 0
        package var woken = 0
        /// The number of notifications, of badge changes and of sounds that the phones have shown or played.
        package var shown = 0, badges = 0, sounds = 0
        /// The number of pushes that did not lead to a download, by the code of the reason (``IgnoredPushReason``).
        package var skipped: [String: Int] = [:]
        /// The number of readers with a download in progress.
        package var downloading = 0
        package var downloaded = 0
        /// The total size of the completely downloaded files, in bytes.
        package var bytes: Int64 = 0
        package var resumed = 0
        package var failed = 0
        package var retried = 0

        package init() {}

        package var line: String {
            let reasons = self.skipped.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
            let skipped = self.skipped.values.reduce(0, +)
            let why = reasons.isEmpty ? "" : " (\(reasons.joined(separator: ", ")))"
            return "registered \(self.registered), woken \(self.woken), shown \(self.shown), skipped \(skipped)\(why), "
                + "downloading \(self.downloading), done \(self.downloaded), \(ByteText.of(self.bytes)), "
                + "resumed \(self.resumed), retried \(self.retried), failed \(self.failed)"
        }

        package var json: JSONValue {
            .object([
                "registered": .integer(Int64(self.registered)), "woken": .integer(Int64(self.woken)),
                "shown": .integer(Int64(self.shown)), "badges": .integer(Int64(self.badges)),
                "sounds": .integer(Int64(self.sounds)),
                "skipped": .object(self.skipped.mapValues { .integer(Int64($0)) }),
                "downloading": .integer(Int64(self.downloading)), "downloaded": .integer(Int64(self.downloaded)),
                "bytes": .integer(self.bytes), "resumed": .integer(Int64(self.resumed)),
                "retried": .integer(Int64(self.retried)), "failed": .integer(Int64(self.failed)),
            ])
        }
    }

    private struct State {
        var counts = Counts()
        var downloading: Set<Int> = []
    }

    private let state = Mutex(State())

    package init() {}

    package var counts: Counts {
        self.state.withLock { state in
            var counts = state.counts
            counts.downloading = state.downloading.count
            return counts
        }
    }

    package func registered() { self.state.withLock { $0.counts.registered += 1 } }

    package func woken() { self.state.withLock { $0.counts.woken += 1 } }

    /// Counts an event of a reader's phone, such as a shown notification. The steps of a reader's app are counted by
    /// ``record(_:reader:)``.
    func record(_ event: SimulatorEvent) {
        self.state.withLock { state in
            switch event.name {
            case .registered: state.counts.registered += 1
            case .woken: state.counts.woken += 1
            case .shown:
                state.counts.shown += 1
                if event.members["sound"] != nil { state.counts.sounds += 1 }
            case .badge: state.counts.badges += 1
            case .sound: state.counts.sounds += 1
            default: break
            }
        }
    }

    /// Counts a step of a reader's app. `reader` is the number that identifies the reader in the fleet.
    package func record(_ event: ReaderEvent, reader: Int) {
        self.state.withLock { state in
            switch event {
            case .downloading(_, let from, _):
                state.downloading.insert(reader)
                if from > 0 { state.counts.resumed += 1 }
            case .downloaded(_, let bytes):
                state.downloading.remove(reader)
                state.counts.downloaded += 1
                state.counts.bytes += bytes
            case .skipped(_, let reason):
                state.downloading.remove(reader)
                state.counts.skipped[reason.code, default: 0] += 1
            case .failed:
                state.downloading.remove(reader)
                state.counts.failed += 1
            case .waiting: state.counts.retried += 1
            default: break
            }
        }
    }
}
