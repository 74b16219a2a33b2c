import Foundation
import PushSupport

/// A device of the admin door in words.
enum DeviceText {
    static func details(_ device: JSONValue) -> String {
        let head = TextTable.details(
            [
                .init("device", "deviceId"), .init("name", "name"), .init("activated", "activatedAt", .time),
                .init("last seen", "lastSeenAt", .time), .init("certificate", "certificateSerial"),
                .init("revoked", "revokedAt", .time), .init("epoch", "epoch"),
            ],
            device
        )
        let connections = TextTable(
            [
                .init("environment", "environment"), .init("online", "online"), .init("in use", "active"),
                .init("unacknowledged", "unacknowledged"), .init("channels", "channels"),
            ],
            device["connections"].elements
        )
        let installs = device["installs"].elements
        guard !installs.isEmpty else { return "\(head)\n\n\(connections.text)\n\nno apps" }
        let apps = TextTable(
            [
                .init("topic", "topic"), .init("environment", "environment"), .init("generation", "generation"),
                .init("minted", "mintedAt", .time), .init("ended", "endedAt", .time), .init("token", "token"),
            ],
            installs
        )
        return "\(head)\n\n\(connections.text)\n\n\(apps.text)"
    }

    /// After an activation: says the id, and writes or prints the certificate.
    static func activated(_ answer: JSONValue, output: String?, asJSON: Bool) throws {
        guard !asJSON else { return _ = StandardOutput.line(try answer.line) }
        let certificate = answer["certificate"].stringValue ?? ""
        StandardError.line("device \(answer["deviceId"].stringValue ?? "?")")
        if let output {
            try OutputFile.write(pem: certificate, to: output, isSecret: false)
            StandardError.line("wrote \(output)")
        } else {
            StandardOutput.line(certificate)
        }
    }
}
