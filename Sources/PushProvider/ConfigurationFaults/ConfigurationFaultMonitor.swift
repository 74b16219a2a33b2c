package import Logging
package import ProviderModel
import PushStore
import PushSupport
import PushTypes
import ServiceLifecycle

/// Probes environments that are paused for a fault with test pushes, and ends each pause once pushes can be sent again.
package struct ConfigurationFaultMonitor: Service {
    /// The maximum time for which the monitor sleeps without a signal.
    private static let sleep: Duration = .seconds(60)
    /// The delay after a store error until the stored pauses are read again.
    private static let errorPause: Duration = .seconds(1)

    private let faults: ConfigurationFaultTracker
    private let tester: CredentialTester
    private let logger: Logger

    package init(faults: ConfigurationFaultTracker, tester: CredentialTester, logger: Logger) {
        (self.faults, self.tester, self.logger) = (faults, tester, logger)
    }

    /// Probes paused environments when they are due, until graceful shutdown.
    package func run() async throws {
        await self.faults.probeWake.untilShutdown {
            while !Task.isShuttingDownGracefully, !Task.isCancelled {
                do {
                    try await self.releaseLeftOver()
                    break
                } catch {
                    self.logger.error("pauses cannot be read, trying again", metadata: ["error": "\(error)"])
                    guard await self.faults.probeWake.wait(atMost: Self.errorPause) else { return }
                }
            }
            await withDiscardingTaskGroup { group in
                var isAwake = true
                while isAwake, !Task.isShuttingDownGracefully, !Task.isCancelled {
                    let due = self.faults.takeProbes()
                    for pause in due { group.addTask { await self.probe(pause) } }
                    var wait = self.faults.nextProbeAt.map { $0.since(self.faults.time.steady) } ?? Self.sleep
                    // Other probes are due, but wait for the end of one in progress, which signals.
                    if due.isEmpty, wait <= .zero { wait = Self.sleep }
                    isAwake = await self.faults.probeWake.wait(atMost: min(Self.sleep, max(.milliseconds(10), wait)))
                }
            }
        }
    }

    /// Probes the paused environments that are due, one after the other, so that tests are deterministic.
    /// - Returns: `true` if a probe was due, and `false` if none was.
    @discardableResult
    package func step() async throws -> Bool {
        try await self.faults.load()
        let due = self.faults.takeProbes()
        for pause in due { await self.probe(pause) }
        return !due.isEmpty
    }

    /// Probes an environment and waits for the result. It does nothing if no pause exists or a probe is in progress.
    package func probe(_ target: AppEnvironment) async throws {
        try await self.faults.load()
        guard let pause = self.faults.takeProbe(of: target) else { return }
        // The probe runs to its end even if the caller is cancelled.
        await Task { await self.probe(pause) }.value
    }

    /// Releases recipients that an earlier process held back for a pause and had not released when it exited.
    private func releaseLeftOver() async throws {
        try await self.faults.load()
        for target in try await self.faults.store.holdingEnvironments() { try await self.faults.release(target) }
    }

    private func probe(_ pause: EnvironmentPause) async {
        defer { self.faults.probeWake.signal() }
        var fault: ConfigurationFault?
        do {
            // A page that was in flight when the app was erased may have paused its environment.
            guard try await self.faults.store.app(id: pause.target.app) != nil
            else { return self.faults.forget(app: pause.target.app) }
            let test = try await self.tester.testStored(pause.target)
            if test.ends(pause.fault) { return try await self.faults.resume(after: pause) }
            fault = test.fault
        } catch {
            self.logger.error("a probe failed", metadata: ["error": "\(error)"])
        }
        await self.faults.probeFailed(pause, fault)
    }
}
