import Foundation
import Logging
import PushSender
import PushTypes
import ServiceLifecycle

/// Sends a push to each device token on standard input, until the process is asked to stop:
///
///     PASSPHRASE=… swift run RunAsService push.p12 com.example.MyApp < tokens.txt
///
/// The sender drains on SIGTERM. A renewed certificate is used as soon as its file is replaced.
@main
struct RunAsService {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 3, let topic = Topic(arguments[2]) else {
            print("usage: RunAsService P12_FILE TOPIC")
            exit(64)
        }
        let logger = Logger(label: "push")
        let passphrase = ProcessInfo.processInfo.environment["PASSPHRASE"]

        let file = CredentialFile(path: arguments[1], passphrase: passphrase)
        let sender = try Sender(to: .apple(.production), credential: file.load(), logger: logger)
        let watch = CredentialWatch(file, logger: logger) { credential in
            do {
                try sender.use(credential)
            } catch {
                logger.error("the new credential cannot be used", metadata: ["error": "\(error)"])
            }
        }

        let services = ServiceGroup(
            services: [sender, watch],
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: logger
        )
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await services.run() }
            while let line = readLine() {
                guard let token = DeviceToken(userInput: line) else { continue }
                let notification = PushNotification(topic: topic, payload: #"{"aps":{"content-available":1}}"#)
                print(token, await sender.send(Push(notification, to: token)))
            }
            await services.triggerGracefulShutdown()
            try await group.waitForAll()
        }
    }
}
