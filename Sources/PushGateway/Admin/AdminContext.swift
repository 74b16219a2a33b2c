import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import PushProtocol

/// The admin door's requests: JSON in and out, bodies up to 64 kB.
struct AdminContext: RequestContext {
    var coreContext: CoreRequestContextStorage

    init(source: ApplicationRequestContextSource) {
        self.coreContext = .init(source: source)
    }

    var maxUploadSize: Int { 64 * 1024 }
}

extension AdminContext {
    func body<Body: Decodable>(of request: Request, as type: Body.Type) async throws -> Body {
        let buffer: ByteBuffer
        do {
            buffer = try await request.body.collect(upTo: self.maxUploadSize)
        } catch is NIOTooManyBytesError {
            throw APIRefusal(status: 413, code: "body_too_large", message: "a body has at most 65536 bytes here")
        }
        return try APIRefusal.decode(type, from: Data(buffer.readableBytesView))
    }

    /// The path parameter that names a device.
    func deviceID() throws -> UUID {
        guard let id = self.parameters.get("device").flatMap(UUID.init(uuidString:)) else {
            throw APIRefusal(status: 404, code: "no_such_device", message: "a device id is a UUID", field: "device")
        }
        return id
    }
}

/// An answer in JSON.
enum AdminAnswer {
    static func json(_ status: HTTPResponse.Status, _ value: some Encodable) throws -> Response {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Self.json(status, try encoder.encode(value))
    }

    static func refusal(_ refusal: APIRefusal) -> Response {
        Self.json(HTTPResponse.Status(code: refusal.status), refusal.body)
    }

    private static func json(_ status: HTTPResponse.Status, _ body: Data) -> Response {
        Response(
            status: status,
            headers: [.contentType: "application/json"],
            body: .init(byteBuffer: ByteBuffer(bytes: body))
        )
    }
}
