import Hummingbird
import ProviderAPI
import ProviderModel
import PushHTTP
import PushSupport
import WebPages

/// The form that uploads a file for an issue of a publication, or chooses a file that the app already has. The file is
/// passed to the API while it arrives, so that it is never completely in memory.
struct IssueUploadPages: PageArea {
    /// The maximum number of files that the form offers to choose from.
    private static let choices = 100

    var routes: [PageRoute] { [.upload("/apps/{app}/publishing/issues/{issue}/upload", self.upload)] }

    private func upload(_ request: PageRequest, _ file: UploadForm.File?) async throws -> Response {
        try request.require(.send)
        _ = try await request.issue()
        do {
            let hash: String
            if let file {
                hash = try await request.upload(file).hash
            } else if let known = request.typed("known") {
                hash = known
            } else {
                throw PageError.fileMissing.error(request.texts["publishing.noFile"], field: "file")
            }
            let body = JSONValue.object(["file": .string(hash)])
            _ = try await request.call(.put("\(request.issueAPI)/\(try Self.place(request))", body))
            return request.redirect(to: request.issuePath(request.parameter("issue")), done: "uploaded")
        } catch let error as RequestError {
            return try await IssuePages.page(request, .init(part: .upload, error: error))
        }
    }

    /// Returns the last component of the path in the API, which is that of the cover, or that of the rendition (file)
    /// for a screen size.
    /// - Throws: ``RequestError`` for a rendition without a screen size.
    private static func place(_ request: PageRequest) throws -> String {
        if request.form["place"] == "cover" { return "cover" }
        guard let size = request.typed("screenSize") else {
            throw PageError.sizeMissing.error(request.texts["publishing.noSize"], field: "screenSize")
        }
        return "renditions/\(URLText.encoded(size))"
    }

    /// Returns the fields of the form. A file that was uploaded with an invalid form can be chosen at the next attempt.
    /// - Parameter isTyped: Pass `true` to fill in the values of the posted form.
    static func fields(_ request: PageRequest, isTyped: Bool) async throws -> [FormField] {
        let texts = request.texts
        func typed(_ name: String) -> String { isTyped ? request.form[name] ?? "" : "" }
        let files = try await request.list("\(request.api)/files?limit=\(Self.choices)", of: FileResponse.self)
        let known = files.entries.map { response -> (value: String, label: String) in
            let (file, hash) = (response.file, response.hash)
            return (hash, "\(file.name) (\(request.format.bytes(Double(file.size))), \(hash.prefix(8)))")
        }
        var fields = [
            FormField(
                "place",
                texts["publishing.fields.place"],
                .choice([("rendition", texts["publishing.rendition"]), ("cover", texts["publishing.cover"])]),
                value: typed("place")
            ),
            FormField(
                "screenSize",
                texts["publishing.fields.screenSize"],
                value: typed("screenSize"),
                hint: texts["publishing.hints.screenSize"],
                maximum: 11
            ),
            FormField("file", texts["publishing.fields.file"], .file(accept: ""), hint: texts["publishing.hints.file"]),
        ]
        if !known.isEmpty {
            let choices = [(value: "", label: texts["publishing.chooseKnown"])] + known
            fields.append(FormField("known", texts["publishing.fields.known"], .choice(choices), value: typed("known")))
        }
        return fields
    }
}
