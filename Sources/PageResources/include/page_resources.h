/// A file that is a part of the program.
struct page_resource {
    /// The path of the file; null behind the last file of a list.
    const char *_Nullable path;
    /// The text of the file, with a null byte behind it.
    const char *_Nullable text;
};

/// Returns the templates, texts and assets that all pages share, of Sources/WebPages/Resources.
const struct page_resource *_Nonnull page_resources_shared(void);

/// Returns the templates and texts of the provider's pages, of Sources/Dashboard/Resources.
const struct page_resource *_Nonnull page_resources_of_dashboard(void);
