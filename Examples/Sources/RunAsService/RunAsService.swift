import Foundation
import Logging
import PushSender
import PushTypes
import ServiceLifecycle

/// Sends a push to each device token on standard input, until its end or SIGTERM:
///
///     PASSPHRASE=… swift run RunAsService push.p12 com.example.MyApp < tokens.txt
///
/// Services stop in reverse order, so that the sender drains last. A renewed certificate is used as soon as its file is
/// replaced.
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

        let input = StandardInput(sender: sender, topic: topic)
        let services = ServiceGroup(
            configuration: .init(
                services: [
                    .init(service: sender),
                    .init(service: watch),
                    .init(service: input, successTerminationBehavior: .gracefullyShutdownGroup),
                ],
                gracefulShutdownSignals: [.sigterm, .sigint],
                logger: logger
            )
        )
        try await services.run()
    }
}

/// Sends a push to each device token on standard input.
struct StandardInput: Service {
    let sender: Sender
    let topic: Topic

    func run() async throws {
        // Reading blocks, so it has a thread of its own; it ends with the process.
        let lines = AsyncStream<String> { continuation in
            Thread.detachNewThread {
                while let line = readLine() { continuation.yield(line) }
                continuation.finish()
            }
        }
        for await line in lines.cancelOnGracefulShutdown() {
            guard let token = DeviceToken(userInput: line) else { continue }
            let notification = PushNotification(topic: self.topic, payload: #"{"aps":{"content-available":1}}"#)
            print(token, await self.sender.send(Push(notification, to: token)))
        }
    }
}
