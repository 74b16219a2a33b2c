import AsyncHTTPClient
import Foundation
import NIOCore
import PushSupport
import ServiceLifecycle

/// Prints events as a gateway streams them, until the stream ends or standard output is closed.
struct EventPrinter: Service {
    let client: APIClient
    let request: APIRequest
    /// A value that is true if events are printed as the gateway sends them.
    let asJSON: Bool

    func run() async throws {
        let body = try await self.client.stream(self.request)
        var lines = LineBuffer()
        for try await bytes in body.cancelOnGracefulShutdown() {
            for line in try lines.append(bytes) where line.hasPrefix("data: ") {
                guard self.print(line.dropFirst(6)) else { return }
            }
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
        .time("time", "timeMs"), "event", "environment",
        "topic", .init("apns-id", "apnsId"), "device", "id",
    ]

    /// Returns one event as one line.
    static func line(_ event: JSONValue) -> String {
        let texts = Self.columns.columns.dropLast().map { $0.text(in: event) }
        return texts.filter { !$0.isEmpty }.joined(separator: "  ")
    }
}

/// Splits a stream of bytes into lines.
private struct LineBuffer {
    /// The longest line, in bytes.
    private static let maximum = 64 * 1024

    /// The bytes of the line that is not complete yet.
    private var bytes = ByteBuffer()

    /// Adds bytes and returns the lines that are complete now, without their ends.
    mutating func append(_ more: ByteBuffer) throws -> [String] {
        self.bytes.writeImmutableBuffer(more)
        var lines: [String] = []
        while let end = self.bytes.readableBytesView.firstIndex(of: UInt8(ascii: "\n")),
            let line = self.bytes.readString(length: end - self.bytes.readerIndex)
        {
            self.bytes.moveReaderIndex(forwardBy: 1)
            lines.append(line)
        }
        self.bytes.discardReadBytes()
        guard self.bytes.readableBytes <= Self.maximum else {
            throw SettingsError("a line of the event stream is too long")
        }
        return lines
    }
}
