import AsyncHTTPClient
import Foundation
import NIOCore
import PushSupport
import ServiceLifecycle

/// Prints events as a gateway streams them, until the stream ends or standard output is closed.
struct EventPrinter: Service {
    /// The longest line, in bytes.
    private static let maximumLine = 64 * 1024

    let client: APIClient
    let request: APIRequest
    /// Indicates whether events are printed as the gateway sends them.
    let asJSON: Bool

    func run() async throws {
        let body = try await self.client.stream(self.request).cancelOnGracefulShutdown()
        for try await line in body.splitUTF8Lines(maximumBufferSize: Self.maximumLine) where line.hasPrefix("data: ") {
            guard self.print(line.dropFirst(6)) else { return }
        }
        if !Task.isShuttingDownGracefully { throw SettingsError("the gateway at \(self.client.baseURL) has ended") }
    }

    /// Prints one event; returns `false` once standard output is closed.
    private func print(_ data: Substring) -> Bool {
        guard !self.asJSON, let event = try? JSONValue(parsing: Data(data.utf8)) else {
            return StandardOutput.line(String(data))
        }
        return StandardOutput.line(EventText.line(event))
    }
}

/// The events of a gateway as text.
enum EventText {
    static let columns: TextTable = [
        .time("time", "timeMs"), "event", "environment", "topic", .init("apns-id", "apnsId"), "device", "id",
    ]

    /// Returns one event as one line.
    static func line(_ event: JSONValue) -> String {
        let texts = Self.columns.columns.dropLast().map { $0.text(in: event) }
        return texts.filter { !$0.isEmpty }.joined(separator: "  ")
    }
}
