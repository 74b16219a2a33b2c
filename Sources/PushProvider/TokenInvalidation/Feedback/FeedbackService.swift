package import Logging
package import Metrics
package import ProviderModel
package import PushSender
package import PushStore
package import PushSupport
package import PushTypes
import ServiceLifecycle
import Synchronization

/// Reads the feedback services of all apps with a certificate, each once an hour, and deactivates the listed devices.
///
/// For each app and environment, one list is read at a time. The time of the next reading survives a restart.
package final class FeedbackService: Service {
    /// Returns a stream of the tuples in a feedback service's list, which finishes at the end of the list.
    package typealias Source =
        @Sendable (PushServiceEndpoint, ClientCertificate) throws -> AsyncThrowingStream<
            FeedbackTuple, any Error
        >

    /// The maximum number of tuples that are applied in one transaction.
    private static let batch = 500
    /// The maximum number of lists that are read at the same time. The others wait.
    private static let concurrency = 4
    /// The maximum time between two checks for lists that are due.
    private static let sleep: Duration = .seconds(60)

    private let store: any AppStore & DeviceStore & FeedbackStore
    private let directory: SenderDirectory
    private let invalidation: FeedbackInvalidation
    private let endpoints: [PushEnvironment: PushServiceEndpoint]
    private let times: FeedbackSchedule
    private let source: Source
    private let events: WakeSignal
    private let metrics: FeedbackMetrics
    private let time: any TimeSource
    private let logger: Logger
    private let running = Mutex<Set<AppEnvironment>>([])

    /// Creates the service.
    /// - Parameters:
    ///   - endpoints: The feedback service of each environment that has one.
    ///   - events: The signal that wakes webhook delivery when there may be events.
    package init(
        store: any AppStore & DeviceStore & FeedbackStore,
        directory: SenderDirectory,
        policy: TokenInvalidationPolicy,
        endpoints: [PushEnvironment: PushServiceEndpoint],
        times: FeedbackSchedule = FeedbackSchedule(),
        source: @escaping Source = { try FeedbackClient(to: $0, certificate: $1).tuples() },
        events: WakeSignal = WakeSignal(),
        metrics: any MetricsFactory,
        time: any TimeSource,
        logger: Logger
    ) {
        (self.store, self.directory, self.endpoints, self.times) = (store, directory, endpoints, times)
        self.invalidation = FeedbackInvalidation(store: store, policy: policy, time: time)
        (self.source, self.events, self.metrics) = (source, events, FeedbackMetrics(factory: metrics))
        (self.time, self.logger) = (time, logger)
    }

    /// Reads feedback services until graceful shutdown.
    package func run() async throws {
        let wake = WakeSignal()
        await wake.untilShutdown {
            guard !self.endpoints.isEmpty else {
                while await wake.wait(atMost: .seconds(86_400)) {}
                return
            }
            repeat {
                do {
                    try await self.readDue()
                } catch {
                    self.logger.error("feedback cannot be read, trying again", metadata: ["error": "\(error)"])
                }
            } while await wake.wait(atMost: Self.sleep)
        }
    }

    /// Reads the list of every feedback service that is due.
    package func readDue() async throws {
        let targets = try await self.store.dueFeedback(at: self.time.steady)
            .filter { self.endpoints[$0.environment] != nil }
        let places = CountingSemaphore(count: Self.concurrency)
        try await withThrowingDiscardingTaskGroup { group in
            for target in targets {
                group.addTask { try await places.run { _ = try await self.read(target, due: self.time.steady) } }
            }
        }
    }

    /// Reads the list of a feedback service now, even if it is not due.
    /// - Returns: The record of the reading, which may have failed.
    /// - Throws: ``RequestError`` if there is no service, no certificate to read it with, or a reading is in progress.
    package func read(_ target: AppEnvironment) async throws -> FeedbackRun {
        guard self.endpoints[target.environment] != nil else {
            let setting = "serve.legacy.\(target.environment.rawValue)Feedback"
            throw Self.conflict("no_feedback_service", "\(setting) names no feedback service")
        }
        guard let run = try await self.read(target, due: nil) else {
            throw Self.conflict("feedback_running", "it is being read now: wait for its end")
        }
        return run
    }

    /// Reads the list of a feedback service, unless it is being read or is not due.
    /// - Parameter due: The current time by the steady clock, or `nil` to read the list even if it is not due.
    /// - Returns: The record of the reading, or `nil` if the list was not read.
    private func read(_ target: AppEnvironment, due: Timestamp?) async throws -> FeedbackRun? {
        guard self.running.withLock({ $0.insert(target).inserted }) else { return nil }
        defer { self.running.withLock { _ = $0.remove(target) } }
        guard let endpoint = self.endpoints[target.environment], let app = try await self.store.app(id: target.app)
        else { return nil }
        let certificate = try await self.certificate(of: target)
        if due == nil, case .failure(let error) = certificate { throw Self.conflict(error.code, error.description) }
        let start = self.time.reading
        let beginning = try await self.store.beginFeedback(
            of: target,
            due: due,
            nextAt: self.times.next(afterCrashOf: start.steady),
            now: start.wall
        )
        guard case .begun(let failures) = beginning else { return nil }
        var run = FeedbackRun(startedAt: start.wall, nextAt: start.steady)
        var reading = FeedbackInvalidation.Reading(of: target)
        do {
            let stream = try self.source(endpoint, try certificate.get())
            reading = try await self.apply(stream, of: target)
            if let error = reading.error { throw error }
        } catch {
            (run.failures, run.error) = (failures + 1, "\(error)")
        }
        run.counts = reading.counts
        var generator = SystemRandomNumberGenerator()
        let end = self.time.reading
        run.endedAt = end.wall
        run.nextAt = self.times.next(
            after: start.steady,
            endedAt: end.steady,
            failures: run.failures,
            using: &generator
        )
        try await self.store.endFeedback(of: target, run)
        self.report(run, of: app, target.environment)
        return run
    }

    private func report(_ run: FeedbackRun, of app: AppRecord, _ environment: PushEnvironment) {
        let counts = run.counts
        self.metrics.count(counts, hasFailed: run.error != nil, app: app.bundleID.name, environment: environment)
        if counts.tokens > 0 { self.events.signal() }
        var metadata: Logger.Metadata = [
            "app": "\(app.bundleID.name)", "environment": "\(environment.rawValue)", "tokens": "\(counts.tokens)",
            "deactivated": "\(counts.deactivated)", "kept": "\(counts.kept)", "withheld": "\(counts.withheld)",
        ]
        if let error = run.error {
            metadata["error"] = "\(error)"
            metadata["failures"] = "\(run.failures)"
            self.logger.warning("feedback could not be read", metadata: metadata)
        } else if counts.tokens > 0 {
            self.logger.info("feedback was read", metadata: metadata)
        }
    }

    /// Applies a list as it arrives, until it ends or fails, or the deadline passes.
    private func apply(
        _ stream: AsyncThrowingStream<FeedbackTuple, any Error>,
        of target: AppEnvironment
    ) async throws -> FeedbackInvalidation.Reading {
        try await withThrowingTaskGroup(of: FeedbackInvalidation.Reading?.self) { group in
            group.addTask { try await self.apply(all: stream, of: target) }
            group.addTask { [deadline = self.times.deadline] in
                try? await Task.sleep(for: deadline)
                return nil
            }
            // After the deadline, the tuples that were read until then are still applied.
            while let result = try await group.next() {
                group.cancelAll()
                if let result { return result }
            }
            throw FeedbackError.timedOut
        }
    }

    /// Applies a list until it ends or fails, or the task is cancelled.
    ///
    /// All tuples that were read are applied in any case, because the service does not list them again.
    private func apply(
        all stream: AsyncThrowingStream<FeedbackTuple, any Error>,
        of target: AppEnvironment
    ) async throws -> FeedbackInvalidation.Reading {
        var (reading, batch) = (FeedbackInvalidation.Reading(of: target), [FeedbackTuple]())
        do {
            for try await tuple in stream {
                batch.append(tuple)
                guard batch.count >= Self.batch else { continue }
                reading = try await self.applied(batch, to: reading)
                batch = []
            }
            if Task.isCancelled { reading.error = FeedbackError.timedOut }
        } catch {
            reading.error = error
        }
        return batch.isEmpty ? reading : try await self.applied(batch, to: reading)
    }

    /// Applies a batch of a list, even if the task is cancelled.
    private func applied(
        _ tuples: [FeedbackTuple],
        to reading: FeedbackInvalidation.Reading
    ) async throws -> FeedbackInvalidation.Reading {
        let invalidation = self.invalidation
        return try await Task {
            var reading = reading
            try await invalidation.apply(tuples, to: &reading)
            return reading
        }
        .value
    }

    private static func conflict(_ code: String, _ message: String) -> RequestError {
        RequestError(.conflict, code: code, message: message, path: "environment")
    }

    private func certificate(of target: AppEnvironment) async throws -> Result<ClientCertificate, FeedbackFault> {
        switch try await self.directory.credential(target, at: self.time.now) {
        case .success(.certificate(let certificate)): .success(certificate)
        case .success(.token): .failure(.needsCertificate)
        case .failure(let error): .failure(.credential(error.fault.detail))
        }
    }
}

private enum FeedbackFault: Error, CustomStringConvertible {
    case needsCertificate
    case credential(String)

    var description: String {
        switch self {
        case .needsCertificate: "feedback is read with a certificate, and the credential is a signing key"
        case .credential(let detail): detail
        }
    }

    var code: String {
        switch self {
        case .needsCertificate: "needs_certificate"
        case .credential: "unusable_credential"
        }
    }
}

/// The metrics of feedback services.
///
/// `martlet_feedback_runs` counts readings by `outcome`, and `martlet_feedback_tokens` counts listed tokens by
/// `result`.
private struct FeedbackMetrics: Sendable {
    private let factory: any MetricsFactory

    init(factory: any MetricsFactory) { self.factory = factory }

    func count(_ counts: FeedbackCounts, hasFailed: Bool, app: String, environment: PushEnvironment) {
        let target = [("app", app), ("environment", environment.rawValue)]
        self.counter("martlet_feedback_runs", target + [("outcome", hasFailed ? "failed" : "read")]).increment()
        let results = [
            ("deactivated", counts.deactivated), ("kept", counts.kept), ("withheld", counts.withheld),
            ("unknown", counts.unknown),
        ]
        for (result, count) in results where count > 0 {
            self.counter("martlet_feedback_tokens", target + [("result", result)]).increment(by: Int64(count))
        }
    }

    private func counter(_ label: String, _ dimensions: [(String, String)]) -> Counter {
        Counter(label: label, dimensions: dimensions, factory: self.factory)
    }
}
