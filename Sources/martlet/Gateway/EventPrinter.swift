import AsyncHTTPClient
import Foundation
import NIOCore
import PushSupport
import ServiceLifecycle

/// Prints events as a gateway tells them, until it ends or nobody reads any more.
struct EventPrinter: Service {
    let call: HTTPCall
    let path: String
    let asJSON: Bool

    func run() async throws {
        let body = try await self.call.stream(self.path)
        var lines = LineBuffer()
        for try await bytes in body.cancelOnGracefulShutdown() {
            for line in try lines.take(bytes) where line.hasPrefix("data: ") {
                guard self.show(line.dropFirst(6)) else { return }
            }
        }
        if !Task.isShuttingDownGracefully { throw SettingsError("the gateway at \(self.call.baseURL) has ended") }
    }

    /// `false` when nobody reads any more.
    private func show(_ data: Substring) -> Bool {
        guard !self.asJSON, let event = try? JSONValue(parsing: Data(data.utf8)) else {
            return StandardOutput.line(String(data))
        }
        return StandardOutput.line(EventText.line(event))
    }
}

/// Splits a stream of bytes into lines.
private struct LineBuffer {
    /// Longest line, in bytes.
    private static let maximum = 64 * 1024

    private var bytes = ByteBuffer()

    /// The lines that are complete now, without their ends.
    mutating func take(_ more: ByteBuffer) throws -> [String] {
        self.bytes.writeImmutableBuffer(more)
        var lines: [String] = []
        while let end = self.bytes.readableBytesView.firstIndex(of: UInt8(ascii: "\n")),
            let line = self.bytes.readString(length: end - self.bytes.readerIndex)
        {
            self.bytes.moveReaderIndex(forwardBy: 1)
            lines.append(line)
        }
        self.bytes.discardReadBytes()
        guard self.bytes.readableBytes <= Self.maximum else { throw SettingsError("the event stream makes no sense") }
        return lines
    }
}
