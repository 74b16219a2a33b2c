package import PushWire

/// An HTTP/2 frame as the peer that a test plays sees it.
package struct PeerFrame: Equatable {
    package var type: FrameType?
    package var flags: FrameFlags
    package var streamID: UInt32
    package var content: [UInt8]

    package init(type: FrameType?, flags: FrameFlags, streamID: UInt32, content: [UInt8]) {
        self.type = type
        self.flags = flags
        self.streamID = streamID
        self.content = content
    }

    /// The 32-bit integers of a RST_STREAM, GOAWAY or WINDOW_UPDATE frame.
    package var words: [UInt32] {
        stride(from: 0, to: min(8, self.content.count) & ~3, by: 4).map { self.content.span.integer(at: $0) }
    }

    /// Returns all frames in `bytes`, without the preface of a client.
    package static func frames(_ bytes: [UInt8]) -> [Self] {
        var bytes = bytes
        if bytes.starts(with: HTTP2Constants.preface.utf8) { bytes.removeFirst(HTTP2Constants.preface.utf8.count) }
        var frames: [Self] = []
        while let header = FrameHeader(bytes.span, at: 0) {
            let end = min(bytes.count, FrameHeader.length + header.length)
            frames.append(
                Self(
                    type: FrameType(rawValue: header.type),
                    flags: header.flags,
                    streamID: header.streamID,
                    content: Array(bytes[FrameHeader.length..<end])
                )
            )
            bytes.removeFirst(end)
        }
        return frames
    }
}

extension Vectors {
    /// The header fields of a push to ``tokenA`` that any client may send.
    package static let pushHeaders = [
        (":method", "POST"), (":scheme", "https"), (":path", "/3/device/\(Vectors.tokenA)"),
        ("apns-topic", Vectors.bundleID), ("apns-push-type", "alert"),
    ]
}
