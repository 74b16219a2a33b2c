import PushSupport
import WebPages

/// The error of a form at the field that caused it, in the words of the API.
enum FieldErrors {
    /// Returns the variable `problems` of a form: the message by the name of the field, with `_` for the dots and brackets of
    /// the API's path.
    ///
    /// - Parameter names: The fields by the paths of the API, where they differ.
    static func model(_ error: RequestError?, names: [String: String] = [:]) -> PageModel {
        guard let error, let path = error.path else { return [:] }
        let name = names[path] ?? String(path.map { $0.isLetter || $0.isNumber ? $0 : "_" })
        return [name: error.message]
    }
}
