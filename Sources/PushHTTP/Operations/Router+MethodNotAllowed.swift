package import Hummingbird
import PushSupport

extension Router where Context == APIContext {
    private static var methods: [HTTPRequest.Method] {
        [.get, .head, .post, .put, .patch, .delete, .options, .trace] + [HTTPRequest.Method("QUERY")].compactMap(\.self)
    }

    /// Makes every path respond to methods that it does not know with 405 and `allow` (RFC 9110 section 15.5.6).
    ///
    /// Call it after the last route was added.
    package func addMethodNotAllowedResponses() {
        for routes in Dictionary(grouping: self.routes, by: { $0.path.description }).values {
            guard let path = routes.first?.path else { continue }
            let known = Set(routes.map(\.method))
            let allow = known.map(\.rawValue).sorted().joined(separator: ", ")
            let message = "this path knows \(allow) only"
            let error = RequestError(.methodNotAllowed, code: "method_not_allowed", message: message)
            for method in Self.methods where !known.contains(method) {
                self.on(path, method: method) { _, _ in Response.error(error, headers: [.allow: allow]) }
            }
        }
    }
}
