package import Metrics
package import PushSupport
import PushTypes
import Synchronization

/// Admits downloads within their budget, shares the bandwidth among them, and measures them.
///
/// There is one monitor for the whole provider. All times are of the steady clock.
package final class DownloadMonitor: Sendable {
    private struct App {
        var open = 0
        var meter = ThroughputMeter()
    }

    private struct State {
        var apps: [Int64: App] = [:]
        var all = App()
        var limiter: BandwidthLimiter
        /// The time from which figures are returned, once a full window was measured, or `nil` after that time.
        var measuredFrom: Timestamp?
    }

    private let places: Budget
    private let time: any TimeSource
    private let state: Mutex<State>
    private let bytes, completed, aborted, refused: Counter

    package init(
        settings: PublishingSettings,
        places: Budget,
        factory: any MetricsFactory = NOOPMetricsHandler.instance,
        time: any TimeSource
    ) {
        (self.places, self.time) = (places, time)
        let start = time.steady
        self.state = Mutex(
            State(
                limiter: BandwidthLimiter(rate: settings.bandwidth),
                measuredFrom: start.advanced(by: .seconds(ThroughputMeter.window))
            )
        )
        func counter(_ result: String) -> Counter {
            Counter(label: "martlet_downloads", dimensions: [("result", result)], factory: factory)
        }
        self.bytes = Counter(label: "martlet_download_bytes", dimensions: [], factory: factory)
        (self.completed, self.aborted) = (counter("completed"), counter("aborted"))
        self.refused = counter("refused")
    }

    /// Begins a download.
    /// - Parameter caller: The app, and the address of the client.
    /// - Returns: The download, which is open until ``OpenDownload/end()`` or its deinitialization.
    /// - Throws: `BudgetRefusal` if too many downloads are open.
    package func begin(app: Int64, for caller: BudgetCaller) throws(BudgetRefusal) -> OpenDownload {
        let place: BudgetPermit
        do throws(BudgetRefusal) {
            place = try self.places.take(for: caller)
        } catch {
            self.refused.increment()
            throw error
        }
        self.state.withLock { state in
            state.all.open += 1
            state.apps[app, default: App()].open += 1
        }
        return OpenDownload(app: app, place: place, monitor: self)
    }

    /// The figures for all downloads of the provider.
    package var figures: DownloadFigures {
        let now = self.time.steady
        return self.state.withLock {
            DownloadFigures(open: $0.all.open, bytesPerSecond: $0.all.meter.rate(now: now))
        }
    }

    /// Returns the figures for an app's downloads, or `nil` until downloads have been measured for ten seconds.
    package func figures(app: Int64) -> DownloadFigures? {
        let now = self.time.steady
        return self.state.withLock { state in
            if let start = state.measuredFrom {
                guard now >= start else { return nil }
                state.measuredFrom = nil
            }
            guard let app = state.apps[app] else { return DownloadFigures(open: 0, bytesPerSecond: 0) }
            return DownloadFigures(open: app.open, bytesPerSecond: app.meter.rate(now: now))
        }
    }

    /// Reserves bandwidth for the next piece of a download.
    /// - Parameter left: The number of bytes of the download that were not reserved yet.
    fileprivate func reserve(left: Int) -> DownloadPiece {
        let now = self.time.steady
        return self.state.withLock { state in
            let bytes = min(left, state.limiter.piece(open: state.all.open))
            return DownloadPiece(bytes: bytes, delay: state.limiter.reserve(bytes, now: now), now: now)
        }
    }

    fileprivate func renew(_ piece: DownloadPiece) -> DownloadPiece {
        let now = self.time.steady
        let delay = self.state.withLock { $0.limiter.renew(piece.bytes, due: piece.due, now: now) }
        return DownloadPiece(bytes: piece.bytes, delay: delay, now: now)
    }

    fileprivate func sent(_ bytes: Int, app: Int64) {
        let now = self.time.steady
        self.state.withLock { state in
            state.all.meter.add(bytes, now: now)
            state.apps[app, default: App()].meter.add(bytes, now: now)
        }
        self.bytes.increment(by: bytes)
    }

    /// Records the end of a download. The bandwidth of `unsent` bytes, which were reserved and not sent, is released.
    fileprivate func ended(app: Int64, isComplete: Bool, unsent: Int) {
        let now = self.time.steady
        self.state.withLock { state in
            state.limiter.release(unsent)
            state.all.open -= 1
            state.apps[app]?.open -= 1
            // The figures of an app without downloads are zero. They are removed to limit the memory.
            if let ended = state.apps[app], ended.open == 0, ended.meter.rate(now: now) == 0 { state.apps[app] = nil }
        }
        (isComplete ? self.completed : self.aborted).increment()
    }
}

/// A piece of a download, for which bandwidth is reserved.
package struct DownloadPiece: Hashable, Sendable {
    /// The length of the piece, in bytes.
    package let bytes: Int
    /// The time to wait before the piece may be sent.
    package let delay: Duration
    fileprivate let due: Timestamp

    fileprivate init(bytes: Int, delay: Duration, now: Timestamp) {
        (self.bytes, self.delay, self.due) = (bytes, delay, now.advanced(by: delay))
    }
}

/// A download in progress. If the object is deinitialized before ``end()``, the download counts as aborted.
package final class OpenDownload: Sendable {
    private let app: Int64
    private let place: BudgetPermit
    private let monitor: DownloadMonitor
    private let hasEnded = Atomic(false)
    /// The number of bytes that are reserved but not sent yet.
    private let reserved = Atomic(0)

    fileprivate init(app: Int64, place: BudgetPermit, monitor: DownloadMonitor) {
        (self.app, self.place, self.monitor) = (app, place, monitor)
    }

    deinit {
        guard !self.hasEnded.load(ordering: .relaxed) else { return }
        self.monitor.ended(app: self.app, isComplete: false, unsent: self.reserved.load(ordering: .relaxed))
    }

    /// The maximum number of times that bandwidth is reserved again for a late piece. Then it is sent although late.
    private static let renewals = 3

    /// Reserves bandwidth for the next piece, and waits until the piece may be sent.
    /// - Parameters:
    ///   - left: The number of bytes that are left.
    ///   - wait: Waits for a duration, and throws if the client has disconnected.
    /// - Returns: The length of the piece in bytes.
    package func reserve(left: Int, wait: (Duration) async throws -> Void) async throws -> Int {
        var piece = self.monitor.reserve(left: left)
        self.reserved.add(piece.bytes, ordering: .relaxed)
        var renewals = 0
        while piece.delay > .zero {
            try await wait(piece.delay)
            guard renewals < Self.renewals else { break }
            piece = self.monitor.renew(piece)
            renewals += 1
        }
        return piece.bytes
    }

    /// Counts bytes that the connection has accepted.
    package func sent(_ bytes: Int) {
        self.reserved.subtract(bytes, ordering: .relaxed)
        self.monitor.sent(bytes, app: self.app)
    }

    /// Ends the download as completed, after all bytes were sent.
    package func end() {
        guard !self.hasEnded.exchange(true, ordering: .relaxed) else { return }
        self.place.end()
        self.monitor.ended(app: self.app, isComplete: true, unsent: 0)
    }
}
