import PushSupport
import WebPages

/// The fields of a form with their values and error messages, as template variables.
struct FormModel {
    /// Returns the variables of the partial `control` for each field. The field that caused `error` shows its message.
    /// - Parameters:
    ///   - name: The name of the form, which makes ids unique in the page.
    ///   - error: The error of the API or of the page, or `nil` for none.
    ///   - names: The names of fields by the paths of API members, where the two differ.
    static func fields(
        _ name: String,
        _ fields: [FormField],
        error: RequestError? = nil,
        names: [String: String] = [:]
    ) -> [PageModel] {
        let problems = FieldErrors.model(error, names: names)
        let language = error.flatMap(PageError.language)
        return fields.map { $0.model(form: name, problem: problems[$0.name] as? String, language: language) }
    }
}

/// Assigns an error of the API to the field of a form that caused it.
enum FieldErrors {
    /// Returns the template variable `problems` of a form: the error message, by the name of the field. It is empty for
    /// an error that names no member. Dots and brackets in paths of the API become `_`.
    /// - Parameter names: The names of fields by the paths of API members, where the two differ.
    static func model(_ error: RequestError?, names: [String: String] = [:]) -> PageModel {
        guard let error, let path = error.path else { return [:] }
        let name = names[path] ?? String(path.map { $0.isLetter || $0.isNumber ? $0 : "_" })
        return [name: error.message]
    }
}
