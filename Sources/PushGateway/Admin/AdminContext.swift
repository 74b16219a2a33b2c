import Foundation
import Hummingbird
import PushHTTP
import PushProtocol

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
            throw APIRefusal(status: 404, code: "no_such_device", message: "a device id is a UUID", field: "device")
        }
        return id
    }
}
