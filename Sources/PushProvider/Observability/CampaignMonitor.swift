package import Logging
import ProviderModel
package import PushStore
package import PushSupport
import PushTypes
import ServiceLifecycle

/// Logs the steps of campaigns: accepted, started, paused, resumed, cancelled, ended.
///
/// It reads the stored states of campaigns every second. So the log includes the steps that any component of the
/// provider, a user or an earlier process has caused, and the code that sends needs no logging.
package struct CampaignMonitor: Service {
    private static let interval: Duration = .seconds(1)

    private let store: any AppStore & NotificationStore & MonitoringStore
    private let log: RateLimitedLog
    private let logger: Logger

    package init(store: any AppStore & NotificationStore & MonitoringStore, lines: Budget, logger: Logger) {
        (self.store, self.log, self.logger) = (store, RateLimitedLog(logger, lines), logger)
    }

    /// Logs the steps of campaigns until graceful shutdown.
    package func run() async throws {
        let wake = WakeSignal()
        await wake.untilShutdown {
            var follower = CampaignFollower()
            repeat { await self.step(&follower) } while await wake.wait(atMost: Self.interval)
            await self.step(&follower)
        }
    }

    /// Reads the states of the campaigns once, and logs the steps since the last reading.
    func step(_ follower: inout CampaignFollower) async {
        do {
            let isFirst = follower.newest == nil
            let reading = try await self.store.campaigns(
                after: follower.newest,
                and: follower.open,
                limit: CampaignFollower.maximumCount
            )
            for progress in follower.follow(reading) {
                let app = try? await self.store.app(id: progress.app)?.bundleID
                for step in progress.steps {
                    let message = "campaign \(step.rawValue)"
                    guard let omitted = self.log.admit(message, app: app) else { continue }
                    await self.write(step, message, of: progress, app: app, omitted: omitted)
                }
            }
            if isFirst, !follower.open.isEmpty {
                self.logger.info("campaigns continue", metadata: ["count": "\(follower.open.count)"])
            }
        } catch {
            guard !Task.isCancelled else { return }
            self.log.log(.error, "campaigns cannot be followed, trying again", ["error": "\(error)"])
        }
    }

    private func write(
        _ step: CampaignFollower.Step,
        _ message: String,
        of progress: CampaignFollower.Progress,
        app: Topic?,
        omitted: Int
    ) async {
        var metadata: Logger.Metadata = ["notification": "\(progress.id)"]
        var level = Logger.Level.info
        if let record = try? await self.store.notification(progress.id) {
            metadata["app"] = "\(app?.name ?? "\(record.app)")"
            metadata.merge(record.details(of: step)) { $1 }
            if step == .paused, record.progress.pauseReason != nil { level = .warning }
        }
        self.log.write(level, message, metadata, omitted: omitted)
    }
}

extension NotificationRecord {
    fileprivate func details(of step: CampaignFollower.Step) -> Logger.Metadata {
        var metadata: Logger.Metadata = [:]
        if let name { metadata["name"] = "\(name)" }
        if let run { metadata["schedule"] = "\(run.schedule)" }
        let progress = self.progress
        switch step {
        case .accepted: if self.startsAt > self.createdAt { metadata["startsAt"] = "\(self.startsAt.rfc3339)" }
        case .started: metadata["recipients"] = "\(progress.recipients)"
        case .paused: metadata["reason"] = progress.pauseReason.map { "\($0)" }
        case .resumed: break
        case .cancelled, .ended:
            let counts = [
                ("recipients", progress.recipients), ("accepted", progress.accepted), ("rejected", progress.rejected),
                ("failed", progress.failed), ("skipped", progress.skipped), ("unknown", progress.unknown),
            ]
            for (name, count) in counts { metadata[name] = "\(count)" }
            if let start = progress.startedAt, let end = progress.finishedAt {
                metadata["seconds"] = "\(max(0, end.since(start).components.seconds))"
            }
        }
        return metadata
    }
}
