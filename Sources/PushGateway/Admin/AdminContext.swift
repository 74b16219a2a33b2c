import Foundation
import Hummingbird
import PushHTTP
import PushSupport
import PushTypes

/// A request at the admin door.
struct AdminContext: JSONContext {
    var coreContext: CoreRequestContextStorage

    init(source: ApplicationRequestContextSource) {
        self.coreContext = .init(source: source)
    }

    /// 64 kB.
    var maxUploadSize: Int { 64 * 1024 }

    /// The path parameter that names a device.
    func deviceID() throws -> UUID {
        guard let id = self.parameters.get("device").flatMap(UUID.init(uuidString:)) else {
            throw RequestError(.notFound, code: "no_such_device", message: "a device id is a UUID", path: "device")
        }
        return id
    }
}

extension Request {
    /// The query item `name`; `nil` if it is not there.
    /// - Throws: ``RequestError`` with status 400 for an item without text.
    func text(_ name: String) throws -> String? {
        guard let text = self.uri.queryParameters[name[...]] else { return nil }
        guard !text.isEmpty else {
            throw RequestError(.invalid, code: "invalid_value", message: "it must not be empty", path: name)
        }
        return String(text)
    }

    /// The query item `environment`.
    func environment() throws -> PushEnvironment? {
        guard let text = try self.text("environment") else { return nil }
        guard let environment = PushEnvironment(rawValue: text) else {
            throw RequestError(
                .invalid,
                code: "invalid_environment",
                message: "use sandbox or production",
                path: "environment"
            )
        }
        return environment
    }

    /// The query item `name` as the id of a device.
    func device(_ name: String) throws -> UUID? {
        guard let text = try self.text(name) else { return nil }
        guard let id = UUID(uuidString: text) else {
            throw RequestError(.invalid, code: "invalid_value", message: "a device id is a UUID", path: name)
        }
        return id
    }
}
