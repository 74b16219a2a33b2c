package import PushProtocol
package import PushSender
import Synchronization

/// A push service that answers as told and remembers what it was sent.
package final class ScriptedSender: NotificationSender, SenderSource {
    package struct Sent: Hashable, Sendable {
        package var notification: PushNotification
        package var token: DeviceToken
    }

    private struct State {
        var sent: [Sent] = []
        var answers: [DeviceToken: [Outcome]] = [:]
    }

    private let state = Mutex(State())

    package init() {}

    package var sent: [Sent] { self.state.withLock { $0.sent } }

    /// What the next sends to `token` come to, one after the other; then, and without a script, everything is accepted.
    package func script(_ token: DeviceToken, _ outcomes: Outcome...) {
        self.state.withLock { $0.answers[token, default: []] += outcomes }
    }

    package func sender(
        for credential: PushCredential,
        environment: PushEnvironment,
        lane: SenderLane
    ) -> any NotificationSender { self }

    package func send(_ pushes: [Push]) async -> [Outcome] {
        var outcomes: [Outcome] = []
        for push in pushes { outcomes.append(await self.send(push.notification, to: push.token)) }
        return outcomes
    }

    package func send(_ notification: PushNotification, to token: DeviceToken) async -> Outcome {
        self.state.withLock { state in
            state.sent.append(Sent(notification: notification, token: token))
            guard let next = state.answers[token]?.first else { return .accepted(.init(id: notification.id)) }
            state.answers[token]?.removeFirst()
            return next
        }
    }
}
