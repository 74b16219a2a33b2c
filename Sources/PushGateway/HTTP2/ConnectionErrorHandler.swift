import NIOCore
import NIOHTTP2

/// The end of a provider connection's pipeline: what goes wrong there ends this connection and no other.
///
/// A malformed request comes by here too; only its stream has been reset, and the other requests go on
/// (RFC 9113 section 8.1.1).
final class ConnectionErrorHandler: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard !Self.concernsOneStream(error) else { return }
        context.close(promise: nil)
    }

    private static func concernsOneStream(_ error: any Error) -> Bool {
        switch error {
        case is NIOHTTP2Errors.StreamError, is NIOHTTP2Errors.ContentLengthViolated,
            is NIOHTTP2Errors.ContentLengthHeadersMismatch, is NIOHTTP2Errors.ContentLengthHeaderNegative,
            is NIOHTTP2Errors.ContentLengthHeaderMalformedValue, is NIOHTTP2Errors.TrailersWithoutEndStream,
            is NIOHTTP2Errors.DuplicatePseudoHeader, is NIOHTTP2Errors.EmptyPathHeader,
            is NIOHTTP2Errors.ForbiddenHeaderField, is NIOHTTP2Errors.InvalidHTTP2HeaderFieldName,
            is NIOHTTP2Errors.InvalidHTTP2HeaderFieldValue, is NIOHTTP2Errors.InvalidPseudoHeaders,
            is NIOHTTP2Errors.InvalidPseudoHeaderValue, is NIOHTTP2Errors.MissingPseudoHeader,
            is NIOHTTP2Errors.PseudoHeaderAfterRegularHeader, is NIOHTTP2Errors.UnknownPseudoHeader,
            is NIOHTTP2Errors.UnsupportedPseudoHeader:
            true
        default: false
        }
    }
}
