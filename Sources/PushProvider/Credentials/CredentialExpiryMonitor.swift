package import Logging
import ProviderModel
import PushSender
package import PushStore
package import PushSupport
package import PushTypes
import ServiceLifecycle
import Synchronization

/// Watches the certificates of all apps, and announces each expiry by a webhook event and a log line, 30, 14, 7 and 1
/// days in advance and when it occurs.
package final class CredentialExpiryMonitor: Service {
    /// The certificate of one app in one environment, with its expiration time.
    package struct Certificate: Hashable, Sendable {
        package var bundleID: Topic
        package var environment: PushEnvironment
        package var expires: Timestamp
    }

    private static let interval: Duration = .seconds(3600)

    private let store: any MonitoringStore
    private let webhookWake: WakeSignal
    private let time: any TimeSource
    private let logger: Logger
    private let known = Mutex<[Certificate]>([])

    /// Creates a monitor. `webhookWake` wakes webhook delivery when an event is stored.
    package init(store: any MonitoringStore, webhookWake: WakeSignal, time: any TimeSource, logger: Logger) {
        (self.store, self.webhookWake, self.time, self.logger) = (store, webhookWake, time, logger)
    }

    /// The certificates at the time of the last check. The array is empty before the first check.
    package var certificates: [Certificate] { self.known.withLock { $0 } }

    /// Checks the certificates every hour until graceful shutdown.
    package func run() async throws {
        let wake = WakeSignal()
        await wake.untilShutdown {
            repeat { await self.check() } while await wake.wait(atMost: Self.interval)
        }
    }

    /// Reads all certificates, and announces the expiries that are due. It is also called after a change of a
    /// credential.
    package func check() async {
        do {
            var certificates: [Certificate] = []
            for stored in try await self.store.certificates() {
                guard case .certificate(let certificate)? = try? stored.credential.credential() else { continue }
                certificates.append(
                    Certificate(
                        bundleID: stored.bundleID,
                        environment: stored.environment,
                        expires: certificate.expires
                    )
                )
                try await self.announce(stored, certificate)
            }
            self.known.withLock { [certificates] in $0 = certificates }
        } catch {
            guard !Task.isCancelled else { return }
            self.logger.error("certificates cannot be read, trying again", metadata: ["error": "\(error)"])
        }
    }

    private func announce(_ stored: StoredCertificate, _ certificate: ClientCertificate) async throws {
        // The earlier clock decides, so that a wall clock that is wrongly ahead announces nothing.
        let (now, expires) = (self.time.reading.earlier, certificate.expires)
        guard let stage = CertificateExpiryStage.due(expires, announced: stored.announcedStage, now: now) else {
            return
        }
        var events = WebhookEventEncoder()
        let recordedAt = self.time.recorded
        events.append(
            endOf: certificate.fingerprint,
            in: stored.environment,
            expires: expires,
            stage: stage,
            at: recordedAt
        )
        guard
            try await self.store.announceEnd(of: stored, stage: stage, event: events.data, now: recordedAt)
        else { return }
        self.webhookWake.signal()
        let metadata: Logger.Metadata = [
            "app": "\(stored.bundleID.name)", "environment": "\(stored.environment.rawValue)",
            "expires": "\(expires.rfc3339)",
        ]
        if stage == 0 {
            self.logger.error("certificate has expired", metadata: metadata)
        } else {
            let left = max(0, Int(expires.since(now).components.seconds / 86_400))
            self.logger.warning("certificate expires", metadata: metadata.merging(["days": "\(left)"]) { $1 })
        }
    }
}

/// Decides when the expiry of a certificate is announced: once at each stage, which is a number of days before expiry.
package enum CertificateExpiryStage {
    /// The first stage, in days before expiry. From then on, the overview lists the certificate as a problem.
    package static let first: Int64 = 30
    /// The stages, each the maximum number of days left until expiry. The last one, 0, means that it has expired.
    static let all = [Int(first), 14, 7, 1, 0]

    /// Returns the last stage that a certificate has reached, or `nil` while more than 30 days are left.
    static func reached(_ expires: Timestamp, now: Timestamp) -> Int? {
        let left = expires.since(now)
        return Self.all.last { left <= .seconds(Int64($0) * 86_400) }
    }

    /// Returns the stage to announce now, or `nil` if the stage reached was announced already, or none is reached.
    /// - Parameter announced: The stage that was announced last, or `nil` if none was.
    static func due(_ expires: Timestamp, announced: Int?, now: Timestamp) -> Int? {
        guard let stage = Self.reached(expires, now: now), stage < announced ?? .max else { return nil }
        return stage
    }
}
