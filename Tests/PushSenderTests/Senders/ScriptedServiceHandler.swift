import NIOCore
import NIOHPACK
import NIOTLS

@testable import PushSender
@testable import PushWire

/// One connection of a ``ScriptedService``: reads requests frame by frame, and does what the script says.
final class ScriptedServiceHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let number: Int
    private let script: ScriptedService.Script
    private let onRequest: (ServiceRequest) -> Void
    private let onReply: () -> Void
    private var input: [UInt8] = Array()
    private var hasPreface = false
    private var decoder = HPACKDecoder(allocator: ByteBufferAllocator())
    private var open: [UInt32: ServiceRequest] = [:]
    private var count = 0

    init(
        number: Int,
        script: @escaping ScriptedService.Script,
        onRequest: @escaping (ServiceRequest) -> Void,
        onReply: @escaping () -> Void
    ) {
        self.number = number
        self.script = script
        self.onRequest = onRequest
        self.onReply = onReply
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case TLSUserEvent.handshakeCompleted = event {
            self.perform(self.script(self.number, .opened), streamID: 0, context)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        self.input += Array(self.unwrapInboundIn(data).readableBytesView)
        if !self.hasPreface {
            guard self.input.count >= 24 else { return }
            self.input.removeFirst(24)
            self.hasPreface = true
        }
        var offset = 0
        while let head = FrameHeader(self.input.span, at: offset), self.input.count - offset - 9 >= head.length {
            let content = Array(self.input[offset + 9..<offset + 9 + head.length])
            offset += 9 + head.length
            self.read(head, content, context)
        }
        self.input.removeFirst(offset)
    }

    private func read(_ head: FrameHeader, _ content: [UInt8], _ context: ChannelHandlerContext) {
        switch FrameType(rawValue: head.type) {
        case .headers:
            var block = ByteBuffer(bytes: content)
            let headers = (try? self.decoder.decodeHeaders(from: &block)) ?? [:]
            self.open[head.streamID] = ServiceRequest(
                connection: self.number,
                streamID: head.streamID,
                number: self.count,
                headers: headers,
                body: []
            )
            self.count += 1
        case .data: self.open[head.streamID]?.body += content
        case .ping where !head.flags.contains(.acknowledgement):
            var buffer = ByteBuffer()
            buffer.write(FrameHeader(length: 8, type: .ping, flags: .acknowledgement))
            buffer.writeBytes(content)
            context.writeAndFlush(self.wrapOutboundOut(buffer), promise: nil)
        default: return
        }
        guard head.flags.contains(.endStream), let request = self.open.removeValue(forKey: head.streamID) else {
            return
        }
        self.onRequest(request)
        self.perform(self.script(self.number, .request(request)), streamID: head.streamID, context)
    }

    private func perform(_ acts: [ScriptedService.Act], streamID: UInt32, _ context: ChannelHandlerContext) {
        for act in acts {
            var buffer = ByteBuffer()
            switch act {
            case .settings(let settings): buffer.writeSettings(settings)
            case .reply(let status, let headers, let body):
                self.onReply()
                Self.writeResponse(status, headers, body, streamID, &buffer)
            case .replySlowly:
                self.onReply()
                Self.writeResponse(200, [("apns-id", "slow")], "", streamID, &buffer)
                while let byte = buffer.readSlice(length: 1) {
                    context.writeAndFlush(self.wrapOutboundOut(byte), promise: nil)
                }
            case .window(let increment): buffer.writeFrame(.windowUpdate, words: increment)
            case .reset(let code): buffer.writeFrame(.resetStream, streamID: streamID, words: code)
            case .goAway(let last, let debugData):
                buffer.write(FrameHeader(length: 8 + debugData.utf8.count, type: .goAway))
                buffer.writeMultipleIntegers(last, UInt32(0))
                buffer.writeString(debugData)
            case .bytes(let bytes): buffer.writeBytes(bytes)
            case .halfClose: context.close(mode: .output, promise: nil)
            case .close: context.close(promise: nil)
            }
            if buffer.readableBytes > 0 { context.writeAndFlush(self.wrapOutboundOut(buffer), promise: nil) }
        }
    }

    private static func writeResponse(
        _ status: Int,
        _ headers: [(String, String)],
        _ body: String,
        _ streamID: UInt32,
        _ buffer: inout ByteBuffer
    ) {
        // Literals without indexing: no state to keep.
        var block: [UInt8] = [0x08, 3] + Array("\(status)".utf8)
        for (name, value) in headers {
            block.append(0)
            block.appendString(name)
            block.appendString(value)
        }
        let flags: FrameFlags = body.isEmpty ? [.endHeaders, .endStream] : .endHeaders
        buffer.write(FrameHeader(length: block.count, type: .headers, flags: flags, streamID: streamID))
        buffer.writeBytes(block)
        guard !body.isEmpty else { return }
        buffer.write(FrameHeader(length: body.utf8.count, type: .data, flags: .endStream, streamID: streamID))
        buffer.writeString(body)
    }
}
