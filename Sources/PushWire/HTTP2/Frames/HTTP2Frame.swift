/// A frame that passed the checks that both ends share (RFC 9113 sections 4 and 6).
///
/// It holds no bytes: ranges are positions in the bytes that it was read from.
struct HTTP2Frame {
    /// The type of a frame and its content.
    enum Payload {
        /// The content of a DATA frame without its padding.
        case data(Range<Int>)
        /// A HEADERS frame. The block is `nil` while CONTINUATION frames are missing.
        case headers(HTTP2HeaderBlock?)
        /// A CONTINUATION frame of the open block, which is `nil` until it is complete.
        case continuation(HTTP2HeaderBlock?)
        /// The stream that a PRIORITY frame names as its parent, or `nil` if the frame has the wrong size, which is a
        /// stream error (RFC 7540 section 6.3).
        case priority(dependency: UInt32?)
        case resetStream(code: UInt32)
        /// The content of a SETTINGS frame, a multiple of six bytes.
        case settings(Range<Int>)
        case settingsAcknowledgement
        case pushPromise
        case ping(UInt64)
        case pingAcknowledgement(UInt64)
        case goAway(lastStreamID: UInt32, code: UInt32, debugData: Range<Int>)
        case windowUpdate(increment: UInt32)
        /// A frame of a type that RFC 9113 does not define. It is ignored (RFC 9113 section 4.1).
        case unknown
    }

    var streamID: UInt32
    /// The length of the content in bytes, with padding.
    var length: Int
    var endsStream: Bool
    var payload: Payload
}

/// A complete header block, and the facts of its HEADERS frame.
struct HTTP2HeaderBlock {
    var streamID: UInt32
    var endsStream: Bool
    /// The frame's priority names its own stream as the parent, which is a stream error (RFC 7540 section 5.3.1).
    var dependsOnItself: Bool
    /// The position of the block, or `nil` if it came in several frames: ``HTTP2FrameReader/takeGatheredBlock()``.
    var range: Range<Int>?
}
