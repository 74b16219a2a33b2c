package import NIOCore
package import PushTypes

/// A request to a push service for another purpose than a push, such as managing channels (APNs reference 4.1).
package struct ServiceRequest: Hashable, Sendable {
    package var method: String
    package var path: String
    /// The header fields in addition to those for authentication.
    package var fields: [HeaderField]
    package var body: ByteBuffer

    package init(_ method: String, _ path: String, fields: [HeaderField] = [], body: ByteBuffer = ByteBuffer()) {
        (self.method, self.path, self.fields, self.body) = (method, path, fields, body)
    }
}

extension HTTP2ClientStateMachine {
    /// Starts a request that is not a push. If no stream is free, it finishes immediately with the event
    /// ``HTTP2ClientEvent/notProcessed(ticket:_:)``.
    package mutating func send(_ request: ServiceRequest, ticket: Int, now: NIODeadline) {
        guard self.freeStreams > 0 else {
            return self.add(.notProcessed(ticket: ticket, .closed("no free stream")))
        }
        let maximumHeaders = min(self.peer.maximumHeaderListSize, HTTP2ClientLimits.maximumRequestHeaders)
        guard self.encoder.headerListSize(of: request) <= maximumHeaders else {
            return self.add(.notProcessed(ticket: ticket, .headersTooLong))
        }
        let id = self.openStream(ticket: ticket, now: now)
        let hasBody = request.body.readableBytes > 0
        let frame = self.output.beginHeaders(streamID: id, endsStream: !hasBody)
        self.encoder.encode(request, into: &self.output)
        self.output.endFrame(at: frame)
        if hasBody { self.sendBody(request.body, streamID: id) }
        if self.streams.unusedIDs == 0 { self.beginDraining(nil, now: now) }
    }
}

extension RequestEncoder {
    /// Returns an upper bound of the size of the request's header list, in bytes (RFC 9113 section 6.5.2).
    func headerListSize(of request: ServiceRequest) -> Int {
        let fields = request.fields.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 32 }
        return self.commonSize + request.method.utf8.count + request.path.utf8.count + fields
    }

    /// Appends the header block of a request that is not a push. Its literals do not change the dynamic table.
    mutating func encode(_ request: ServiceRequest, into buffer: inout ByteBuffer) {
        var block = self.beginBlock()
        func add(_ name: String, _ value: String) {
            block.append(0)
            block.appendString(name)
            block.appendString(value)
        }
        add(":method", request.method)
        add(":scheme", "https")
        add(":authority", self.authority)
        add(":path", request.path)
        block += self.authorization
        for field in request.fields { add(field.name, field.value) }
        buffer.writeBytes(block)
    }
}
