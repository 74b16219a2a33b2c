import Foundation
import Logging
import PushSender
import PushTypes

/// Creates a channel, sends to everybody who follows it, and deletes it:
///
///     swift run SendBroadcast AuthKey_ABC123DEFG.p8 DEF123GHIJ com.example.MyApp
@main
struct SendBroadcast {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 4, let bundleID = Topic(arguments[3]) else {
            print("usage: SendBroadcast KEY_FILE TEAM_ID BUNDLE_ID")
            exit(64)
        }
        let credential = try PushCredential.load(file: arguments[1], teamID: arguments[2])
        let logger = Logger(label: "push")
        let sender = try Sender(to: .apple(.production), credential: credential, logger: logger)

        let channels = try ChannelService(to: .appleChannels(.production), credential: credential, logger: logger)
        let channel = try await channels.createChannel(storing: .newest, for: bundleID)

        let payload = #"{"aps":{"timestamp":1700000000,"event":"update","content-state":{"home":1}}}"#
        switch await sender.broadcast(Broadcast(to: channel, of: bundleID, payload: payload)) {
        case .accepted(let accepted): print("accepted as \(accepted.id)")
        case .rejected(let rejection): print("rejected: \(rejection.reasonText), \(rejection.advice)")
        case .notSent(let failure), .unknown(let failure): print("no response: \(failure)")
        }
        try await channels.deleteChannel(channel, of: bundleID)
        await channels.close()
        await sender.close()
    }
}
