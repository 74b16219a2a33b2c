import ArgumentParser
import PushSupport
import PushTypes

/// Which events are wanted: those that have all that is named.
struct EventOptions: ParsableArguments {
    @Option(help: "Of the device with this id.")
    var device: String?

    @Option(help: "Of the device and app that this device token, in hexadecimal, stands for.")
    var token: String?

    @Option(help: "Of the notification with this apns-id.")
    var apnsID: String?

    @Option(help: "Of this topic.")
    var topic: String?

    @Option(help: "sandbox or production.")
    var environment: PushEnvironment?

    @Option(help: "Only events after the one with this id, oldest first.")
    var after: Int64?

    var query: [(String, String?)] {
        [
            ("device", self.device), ("token", self.token), ("apnsId", self.apnsID), ("topic", self.topic),
            ("environment", self.environment?.rawValue), ("after", self.after.map { "\($0)" }),
        ]
    }
}

/// Events as columns.
enum EventText {
    static let columns: [TextTable.Column] = [
        .init("time", "timeMs", .time), .init("event", "event"), .init("environment", "environment"),
        .init("topic", "topic"), .init("apns-id", "apnsId"), .init("device", "device"), .init("id", "id"),
    ]

    /// One event as one line.
    static func line(_ event: JSONValue) -> String {
        let texts = Self.columns.dropLast().map { CellText.of($0.value(in: event), $0.style).printable }
        return texts.filter { !$0.isEmpty }.joined(separator: "  ")
    }
}
