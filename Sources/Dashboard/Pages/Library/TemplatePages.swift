import ProviderAPI
import PushSupport
import WebPages

/// The pages of an app's templates, which are named and versioned content.
struct TemplatePages: LibraryPages {
    let library = LibraryItemPages<TemplateResponse>(plural: "templates")
    let previewTemplate = "push-preview"
    var menuEntry: MenuEntry? { MenuEntry(.app, "templates") }

    func form(of body: JSONValue) -> ComposeForm { ComposeForm(request: body) }

    func members(of form: ComposeForm) throws(RequestError) -> [String: JSONValue?] {
        ["content": .object(try form.contentMembers())]
    }

    func previewed(_ form: ComposeForm, _ request: PageRequest) async throws -> PageModel {
        do {
            let body = JSONValue.object(try form.contentMembers())
                .merging(.object(["to": .object(["all": .bool(true)])])).merging(.object(form.previewSubject))
            let call = LocalAPIRequest.post("\(request.api)/notifications:preview", body)
            let response = try await request.call(call, as: PreviewResponse.self)
            return PushPreview(response, texts: request.texts, countsRecipients: false).values()
        } catch let error as RequestError {
            return PushPreview(error).values()
        }
    }

    func values(of form: ComposeForm, _ request: PageRequest, error: RequestError?) -> PageModel {
        let problems = ComposeFieldMapping.model(error, form)
        let model = ComposeModel(form: form, texts: request.texts, problems: problems)
        return ["content": model.content, "subject": model.preview]
    }

    func use(_ request: PageRequest, name: String) -> KeyValuePairs<String, String?> {
        ["template": self.library.id(request)]
    }
}
