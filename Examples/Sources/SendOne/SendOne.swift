import Foundation
import Logging
import PushSender
import PushTypes

/// Sends one push to Apple's sandbox:
///
///     swift run SendOne AuthKey_ABC123DEFG.p8 DEF123GHIJ com.example.MyApp 302bd38c…
@main
struct SendOne {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 5, let topic = Topic(arguments[3]), let token = DeviceToken(hex: arguments[4]) else {
            print("usage: SendOne KEY_FILE TEAM_ID TOPIC DEVICE_TOKEN")
            exit(64)
        }
        let (keyFile, teamID) = (arguments[1], arguments[2])

        let credential = try PushCredential.load(file: keyFile, teamID: teamID)
        let sender = try Sender(to: .apple(.sandbox), credential: credential, logger: Logger(label: "push"))

        let notification = PushNotification(topic: topic, payload: #"{"aps":{"alert":"Hello"}}"#)
        switch await sender.send(Push(notification, to: token)) {
        case .accepted(let accepted): print("accepted:", accepted.id)
        case .rejected(let rejection): print("rejected:", rejection.reasonText, rejection.advice)
        case .notSent(let failure): print("not sent, safe to send again:", failure.description)
        case .unknown(let failure): print("sent, without a response:", failure.description)
        }
        await sender.close()
    }
}
