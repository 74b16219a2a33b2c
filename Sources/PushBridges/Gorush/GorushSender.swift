import NIOCore
import ProviderAPI
import ProviderModel
import PushStore
import PushSupport
import PushTypes

/// Sends the notifications of one request to a gorush bridge.
struct GorushSender: Sendable {
    let submission: PushSubmission
    let table: BridgeTable

    struct Destination: Sendable {
        let bridge: BridgeRecord
        let app: AppRecord
        let settings: GorushSettings
        let admission: BridgeAuthenticator.Admission
    }

    /// The notifications of a request that the ledger contains, and the failures that are known before the push service
    /// responds.
    struct Sent: Sendable {
        var accepted: [(push: PushSubmission.Accepted, plan: GorushPlan)] = []
        var failures: [GorushLogEntry] = []
    }

    /// Returns the plans for all notifications of a request, each for the app of the notification's topic.
    func plans(_ request: GorushRequest, _ destination: Destination) async throws -> [GorushPlan] {
        var plans: [GorushPlan] = []
        for notification in request.notifications {
            let (bridge, app) = try await self.target(of: notification, destination)
            let plan = try await GorushPlan(
                notification,
                app: app,
                bridge: bridge.name,
                environment: bridge.environment,
                now: self.submission.parts.time.now
            ) { tokens, kind, environment in
                try await self.submission.sorted(tokens, of: app, wanted: kind, environment: environment)
            }
            plans.append(plan)
        }
        return plans
    }

    /// Returns the bridge and the app for a notification. The bridge is the one that is named after the notification's
    /// topic if the caller may use it, otherwise the bridge that the request addresses.
    private func target(
        of notification: GorushNotification,
        _ destination: Destination
    ) async throws -> (BridgeRecord, AppRecord) {
        let topic = notification.topic.flatMap { Topic($0) }?.bundleID
        guard let topic, topic != destination.app.bundleID, let other = try await self.table[topic.name],
            let app = try await self.submission.parts.store.app(id: other.app), app.bundleID == topic,
            case .key(let caller) = destination.admission, caller.mayUse(app.bundleID)
        else { return (destination.bridge, destination.app) }
        return (other, app)
    }

    /// Accepts the notifications of plans by writing them into the ledger.
    /// - Throws: An error of the store if it occurs before any notification is accepted. A later error becomes a
    ///   failure of the tokens.
    func send(_ plans: [GorushPlan], _ destination: Destination, receivedAt: Timestamp) async throws -> Sent {
        var sent = Sent()
        for var plan in plans {
            for group in plan.groups {
                guard let request = plan.request(group) else { continue }
                guard try await self.submission.canSend(plan.app, to: group.environment) else {
                    let environment = (group.environment ?? .production).rawValue
                    plan.fail(group.tokens, "the app has no credential for \(environment)")
                    continue
                }
                do {
                    let notification = try await self.submission.accept(
                        request,
                        of: plan.app,
                        key: destination.admission.key,
                        origin: NotificationOrigin(.gorush, bridge: plan.bridge),
                        receivedAt: receivedAt
                    )
                    sent.accepted.append((.init(notification: notification, tokens: group.tokens), plan))
                } catch let error as RequestError {
                    plan.fail(group.tokens, GorushFailure.text(error))
                } catch  where !sent.accepted.isEmpty {
                    plan.fail(group.tokens, "nothing can be stored now: try again later")
                }
            }
            sent.failures += plan.failures
        }
        return sent
    }

    /// Waits for the outcomes of notifications, and returns the failures among them.
    /// - Parameter channel: The connection of the client. If it is closed, the wait ends.
    func failures(of sent: Sent, on channel: any Channel) async throws -> [GorushLogEntry] {
        let verdicts = try await self.submission.verdicts(of: sent.accepted.map(\.push), on: channel)
        var failures: [GorushLogEntry] = []
        for ((push, plan), verdicts) in zip(sent.accepted, verdicts) {
            for token in push.tokens {
                guard let text = verdicts[token].flatMap(GorushFailure.text) else { continue }
                failures.append(plan.entry(token, text))
            }
        }
        return failures
    }
}
