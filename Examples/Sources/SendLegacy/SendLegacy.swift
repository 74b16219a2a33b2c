import Foundation
import Logging
import PushSender
import PushTypes

/// Sends one push over the binary protocol of a gateway, then reads its feedback:
///
///     swift run SendLegacy push.p12 PASSPHRASE gateway.example.com com.example.MyApp 302bd38c…
@main
struct SendLegacy {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 6, let topic = Topic(arguments[4]), let token = DeviceToken(hex: arguments[5]) else {
            print("usage: SendLegacy ARCHIVE PASSPHRASE HOST TOPIC DEVICE_TOKEN")
            exit(64)
        }
        let (archive, passphrase, host) = (arguments[1], arguments[2], arguments[3])
        let pushes = [Push(PushNotification(topic: topic, payload: #"{"aps":{"alert":"Hello"}}"#), to: token)]

        let credential = try PushCredential.load(file: archive, passphrase: passphrase)
        guard case .certificate(let certificate) = credential else { return print("\(archive) has no certificate") }
        let gateway = PushServiceEndpoint(host: host, port: BinarySender.defaultPort)
        let sender = try BinarySender(to: gateway, certificate: certificate, logger: Logger(label: "push"))
        let outcomes = await sender.send(pushes)
        await sender.close()
        print(outcomes)

        let feedback = PushServiceEndpoint(host: host, port: FeedbackClient.defaultPort)
        for try await tuple in try FeedbackClient(to: feedback, certificate: certificate).tuples() {
            print(tuple.token, "is inactive since", tuple.timestamp.seconds)
        }
    }
}
