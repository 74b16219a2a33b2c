import Foundation
import Logging
import PushDevice

/// Receives pushes from a gateway on this machine (`martlet gateway`):
///
///     swift run ReceivePushes com.example.MyApp
@main
struct ReceivePushes {
    static func main() async throws {
        guard CommandLine.arguments.count == 2 else {
            print("usage: ReceivePushes TOPIC")
            exit(64)
        }
        let topic = CommandLine.arguments[1]
        // The file of the identity has a private key: it is for its owner only.
        umask(0o077)

        let file = URL(filePath: "device.json")
        let device = Device(
            identity: try await self.identity(in: file),
            configuration: DeviceConfiguration(host: "localhost", port: 5223),
            logger: Logger(label: "device")
        )
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await device.run() }
            let token = try await device.deviceToken(for: topic)
            print("device token for the provider:", token)
            // The identity has the base token now. With it, the device gets the same device tokens again.
            try JSONEncoder().encode(device.identity).write(to: file, options: .atomic)
            for await notification in device.notifications {
                print(notification.apnsID ?? "no id", String(decoding: notification.payload, as: UTF8.self))
            }
        }
    }

    /// Reads the identity of an earlier run, or activates a new device.
    private static func identity(in file: URL) async throws -> DeviceIdentity {
        if let data = try? Data(contentsOf: file) {
            return try JSONDecoder().decode(DeviceIdentity.self, from: data)
        }
        return try await DeviceActivation(adminURL: "http://127.0.0.1:2198").activate(name: "example")
    }
}
