package import Hummingbird
package import NIOCore
package import PushSupport

extension Response {
    /// The length of a long body in bytes; `nil` for a short one, and for a stream of unknown length.
    package var longBody: Int? { self.body.contentLength.flatMap { $0 > Budget.uncountedBodyLength ? $0 : nil } }

    /// Returns the response with something that its body holds until the connection has taken the whole of it, or until
    /// nobody will write it.
    package func holding(_ permit: BudgetPermit) -> Response {
        let body = self.body
        var response = self
        response.body = ResponseBody(contentLength: body.contentLength) { writer in
            defer { permit.end() }
            try await body.write(writer)
        }
        return response
    }
}

extension ResponseBody {
    /// The maximum length of a piece, in bytes.
    private static let pieceLength = Budget.uncountedBodyLength

    /// Makes a body that is written in pieces if it is long, each when the connection has taken the one before.
    package static func pieces(of whole: ByteBuffer) -> ResponseBody {
        guard whole.readableBytes > Self.pieceLength else { return ResponseBody(byteBuffer: whole) }
        return ResponseBody(contentLength: whole.readableBytes) { writer in
            var rest = whole
            while let piece = rest.readSlice(length: min(Self.pieceLength, rest.readableBytes)),
                piece.readableBytes > 0
            {
                // A copy: a slice would keep the whole in memory for as long as the connection has it.
                try await writer.write(ByteBuffer(bytes: piece.readableBytesView))
            }
            try await writer.finish(nil)
        }
    }
}
