import MartletKit
import PushDevice
import PushSupport
import PushTypes

/// The Live Activities of the app: their token and their broadcast channels.
extension Simulator {
    /// The topic of the pushes for the app's Live Activities.
    var activityTopic: String { self.configuration.app + PushType.liveactivity.topicSuffix }

    /// Has the app register the token for Live Activities as what it is now.
    func registerActivityToken() async {
        let kind = self.center.activityTokenKind
        guard let token = self.activityToken, kind != self.activityKind else { return }
        self.activityKind = kind
        self.log.expect(kind)
        do {
            let others = self.center.activities.map { MartletKit.TokenKind.liveActivityUpdate(activity: $0.id) }
            for other in [.liveActivityStart] + others where other != kind {
                try await self.app.martlet.forgetToken(of: other)
            }
            try await self.app.martlet.register(token: Self.bytes(of: token), kind: kind)
        } catch {
            self.log.problem("the token for Live Activities is not registered: \(error)")
        }
    }

    /// Follows the broadcast channels of the Live Activities that have not ended, and no other.
    func followChannels() {
        guard let device = self.device else { return }
        let (channels, app) = (self.center.channels, self.configuration.app)
        for channel in self.channels.subtracting(channels) { try? device.unfollow(channel: channel, of: app) }
        for channel in channels.subtracting(self.channels) {
            Task { [log = self.log] in
                do {
                    try await device.follow(channel: channel, of: app)
                } catch is CancellationError {
                    // The phone has ended.
                } catch {
                    log.problem("the broadcast channel \(channel) cannot be followed: \(ErrorDescription.of(error))")
                }
            }
        }
        self.channels = channels
    }
}
